"""The errors of documents and indexes, with sentences for people. The findings of a check are in library/check.py, the
errors of a site in crawl/errors.py, those of a backup in backup/errors.py, those of a move in move/errors.py.

All are imported from here. Each is in the file of its subject, which is named on the right.

PlainError                        a sentence in each language that says what to do                      plain.py
└── IndexStoreError
    ├── InvalidSetting            a setting of the environment or `.env`                                data_folder.py
    │   └── EnvFileUnusable
    ├── StoreInUse, DataFolderUnusable, DataFolderDamaged, DataFolderNewer, RestoreUnfinished,
    │   FolderNotShared, UpgradeNotSaved, StoreFailed, ChangeFailed, NotAsRoot, DataFolderIsFile
    ├── DatabaseAway              the database can't be used now                                        database.py
    │   └── DatabaseRefuses
    ├── DatabaseInUse, OlderVersionRuns, CatalogueInFolder, CatalogueInDatabase, NoQueue, SchemaTaken,
    │   MoveUnfinished
    ├── VectorsInFolder, VectorsOnServer, VectorsLost, SqliteTooOld, EmbeddingModelMismatch,            vectors.py
    │   EmbeddedModelUnusable
    ├── VectorServerError         the server of the vectors did not answer correctly
    │   └── VectorsAway, VectorsFailed
    ├── OriginalsInFolder, OriginalsElsewhere                                                           originals.py
    ├── OriginalsError            the storage of the original files did not answer correctly
    │   └── OriginalsAway, OriginalsFailed, OriginalsRefused, BucketMissing, OriginalsOfAnother, OriginalsNotThere
    ├── SignInIncomplete, AccessWithdrawn, UnknownPerson, AmbiguousPerson, PersonExists, LastAdmin,     access.py
    │   NoPersonNamed, NobodyNamed, NoGroupNamed
    ├── NotAllowed                for an object that the person may know about
    │   └── RightMissing, EditorNeeded, AdminNeeded
    ├── BadIndexName, IndexExists, UnknownIndex, UnknownDocument, DocumentGone, UnknownSection,         indexes.py
    │   OriginalMissing, UnknownJob
    ├── EmptyIndex                nothing can be found in it
    │   └── IndexNotReady
    ├── EmptyQuestion, QuestionTooLong, UnknownMode, UnknownUnit                                        questions.py
    ├── QueriesUnreadable, QueriesNotInUtf8, BadQueries
    ├── DocumentError             one document can't be loaded; the others continue                       documents.py
    │   ├── IndexHasTooManyFiles, IndexTooLarge
    │   ├── DocumentMissing, DocumentForbidden, NotAFile, EmptyFolder, FolderUnreadable, EmptyDocument
    │   ├── TooLarge, PathTooLong, UnknownKind
    │   ├── SameName, Superseded, LeaseLost, Cancelled
    │   ├── WrongContent, UnknownEncoding, NoText, PageWithoutText, PasswordProtected, CopyProtected, Unreadable
    │   ├── ParserFailed, ParserTimedOut, TooMuchText
    │   └── NothingToLoad, TooManyMembers, ArchiveTooLarge, PackedTooTightly, NestedTooDeeply, UnsafeMember
    └── ServiceError              the embedding or chat service did not answer correctly                service.py
        ├── KeyRefused, ServiceBusy, QuotaUsedUp, ModelUnknown
        ├── RequestRefused
        │   └── TextTooLong
        ├── ServiceFailed, ServiceTimedOut, AnswerUnreadable
        └── ServiceUnreachable
            └── ServiceUntrusted
"""

# ruff: noqa: F403
from index_store.base.errors.access import *
from index_store.base.errors.data_folder import *
from index_store.base.errors.database import *
from index_store.base.errors.documents import *
from index_store.base.errors.indexes import *
from index_store.base.errors.originals import *
from index_store.base.errors.plain import *
from index_store.base.errors.questions import *
from index_store.base.errors.service import *
from index_store.base.errors.vectors import *
