# The app, a worker and Chroma's server in one image: the command chooses which one runs. compose.yaml combines them.
#
#   docker build -t glassbox-rag .                       fetches the embedded chat model at the first start, if it is needed
#   docker build -t glassbox-rag --target with-model .   has it in the image, which is 1.1 GB larger, or 3 GB if it is built on
#                                                        a processor with AVX-VNNI or AVX512-VNNI: only there the model is prepared
#
# It writes only to /data, /chroma and /tmp: it runs with --read-only --tmpfs /tmp.

ARG PYTHON=3.11

FROM python:${PYTHON}-slim-bookworm AS packages
WORKDIR /build
RUN python -m venv /opt/venv
COPY requirements.lock ./
# Only wheels, checked by their hashes: installation runs no code of a package and needs no compiler.
RUN /opt/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-cache-dir --only-binary=:all: --require-hashes -r requirements.lock

FROM python:${PYTHON}-slim-bookworm AS common
# OpenMP: llama.cpp is linked with it, and the slim image does not have it.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --home-dir /tmp --no-create-home --shell /usr/sbin/nologin glassbox \
    && install -d -o glassbox -g glassbox -m 700 /data /chroma
# Includes pip, which fetches the model.
COPY --from=packages /opt/venv /opt/venv
WORKDIR /app
COPY app.py NOTICE.md ./
COPY .streamlit/config.toml .streamlit/
COPY index_store index_store
COPY rag rag
COPY pages pages
RUN /opt/venv/bin/python -m compileall -q app.py index_store rag pages
# Everyone who can reach the container can reach the app, so it starts only with AUTH or ALLOW_ANONYMOUS.
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
# The long start period: the model is fetched before the app answers. No proxy is asked, even if HTTP_PROXY is set.
HEALTHCHECK --interval=30s --timeout=10s --start-period=15m --retries=3 \
    CMD ["python", "-c", "import urllib.request as web; web.build_opener(web.ProxyHandler({})).open('http://localhost:8501/healthz', timeout=5)"]
# The same as `make run`.
CMD ["sh", "-c", "python -m rag.models.embedded.fetch && exec streamlit run app.py --server.port 8501"]

FROM common AS with-model
USER root
RUN DATA_DIR=/opt/embedded CHAT_MODEL=embedded python -m rag.models.embedded.fetch && chmod -R a+rX /opt/embedded
ENV EMBEDDED_MODEL=/opt/embedded/models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf
USER 10001:10001

# The default target.
FROM common AS app
