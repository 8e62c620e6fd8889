# prorl in a container: docker build -t prorl . (docs/guides/container.md says more, also what the sandbox needs at run time).
# BASE is any image of Debian or Ubuntu, such as nvidia/cuda:13.0.1-runtime-ubuntu24.04 for a machine with a GPU. On
# x86_64, PyPI's torch brings CUDA; PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu takes the much smaller CPU build.
ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS build
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates gcc libc6-dev \
    && { python3 -c 'import ensurepip' || apt-get install --yes --no-install-recommends python3-venv python3-dev; }
# pip reads these from its environment. They are not in the finished image.
ARG PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_CERT PIP_TRUSTED_HOST
ARG EXTRAS=local
RUN python3 -m venv /opt/prorl
COPY . /source
RUN /opt/prorl/bin/pip install --no-cache-dir "/source[${EXTRAS}]" --constraint /source/constraints.txt

FROM ${BASE}
RUN command -v python3 || { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
    python3 && rm -rf /var/lib/apt/lists/*; }
COPY --from=build /opt/prorl /opt/prorl
RUN useradd --create-home prorl && install --directory --owner prorl /work
ENV PATH=/opt/prorl/bin:$PATH
USER prorl
WORKDIR /work
ENTRYPOINT ["prorl"]
CMD ["--help"]
