"""What can go wrong with documents and indexes, in words fit to be shown to a person. What a check finds is in
library/check.py, what can go wrong with a site in crawl/errors.py, with a backup in backup/errors.py.

All are imported from here; each stands in the file of its subject, which is named on the right.

PlainError                        a sentence a language, each saying what to do                         plain.py
└── IndexStoreError
    ├── InvalidSetting            a setting of the environment or `.env`                                data_folder.py
    ├── StoreInUse, DataFolderUnusable, DataFolderDamaged, DataFolderNewer, RestoreUnfinished,
    │   FolderNotShared, UpgradeNotSaved, StoreFailed, ChangeFailed
    ├── DatabaseAway, DatabaseInUse, OlderVersionRuns, CatalogueInFolder, CatalogueInDatabase, NoQueue, database.py
    │   SchemaTaken, MoveUnfinished
    ├── VectorsInFolder, VectorsOnServer, VectorsLost, EmbeddingModelMismatch, EmbeddedModelUnusable    vectors.py
    ├── VectorServerError         the server of the vectors did not answer as it should
    │   └── VectorsAway, VectorsFailed
    ├── OriginalsInFolder, OriginalsElsewhere                                                           originals.py
    ├── OriginalsError            what keeps the original files did not answer as it should
    │   └── OriginalsAway, OriginalsFailed, OriginalsRefused, BucketMissing, OriginalsOfAnother, OriginalsNotThere
    ├── SignInIncomplete, AccessWithdrawn, UnknownPerson, AmbiguousPerson, PersonExists, LastAdmin,     access.py
    │   NobodyNamed
    ├── NotAllowed                of what the asker knows that it exists
    │   └── RightMissing, EditorNeeded, AdminNeeded
    ├── BadIndexName, IndexExists, UnknownIndex, EmptyIndex, UnknownDocument, UnknownSection,           indexes.py
    │   OriginalMissing, UnknownJob
    ├── EmptyQuestion, QuestionTooLong, UnknownMode, UnknownUnit, BadQueries                            questions.py
    ├── DocumentError             one document can't be loaded; the others go on                        documents.py
    │   ├── IndexHasTooManyFiles, IndexTooLarge
    │   ├── DocumentMissing, DocumentForbidden, NotAFile, EmptyFolder, EmptyDocument, TooLarge, UnknownKind
    │   ├── Superseded, LeaseLost, Cancelled
    │   ├── WrongContent, UnknownEncoding, NoText, PasswordProtected, CopyProtected, Unreadable
    │   ├── ParserFailed, ParserTimedOut, TooMuchText
    │   └── NothingToLoad, TooManyMembers, ArchiveTooLarge, PackedTooTightly, NestedTooDeeply, UnsafeMember
    └── ServiceError              the embedding or chat service did not answer as it should             service.py
        ├── KeyRefused, ServiceBusy, QuotaUsedUp, ModelUnknown, RequestRefused
        └── ServiceFailed, ServiceUnreachable, ServiceTimedOut, AnswerUnreadable
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
