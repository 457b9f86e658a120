# tuneplane-gpu-gate as an image: one container on each machine with GPUs, given that machine's Docker and its cards.
#
#   docker build -t tuneplane-gpu-gate:0.1.0 --build-arg REVISION="$(git rev-parse HEAD)" .
#
#   docker run -d --name gpu-gate --restart unless-stopped --stop-timeout 45 \
#     --network host --pid host \
#     --gpus all --device-cgroup-rule 'c 195:* rmw' \
#     --cap-drop ALL --security-opt no-new-privileges \
#     --group-add "$(stat -c %g /var/run/docker.sock)" -v /var/run/docker.sock:/var/run/docker.sock \
#     -v gpu-gate-state:/var/lib/tuneplane-gpu-gate \
#     -v /data:/data:ro -v /scratch:/scratch:ro \
#     tuneplane-gpu-gate:0.1.0
#
#   --stop-timeout 45     longer than TUNEPLANE_DRAIN_TIMEOUT_S: admissions under way end first. Docker's own is 10 s.
#   --network host        the gate listens on 127.0.0.1:9840 of the machine, for callers on it and nobody else, and shows
#                         the metrics alone on port 9841 to everybody. A second gate on the same state folder is noticed.
#                         With published ports instead, TUNEPLANE_LISTEN must be 0.0.0.0:9840, which needs a tokens file and
#                         TLS (TUNEPLANE_WEB_CONFIG_FILE), or TUNEPLANE_PLAIN_HTTP=true behind a proxy that speaks it.
#   --pid host            else the driver hides the processes of other containers, and small foreign jobs go unseen.
#   --gpus all            nvidia-smi, the driver's library and the cards, from the NVIDIA Container Toolkit.
#   --device-cgroup-rule  195 is the driver's major number. The toolkit lets the cards in behind systemd's back, and its next
#                         `systemctl daemon-reload` (any package upgrade) takes them away: "Failed to initialize NVML:
#                         Unknown Error". This rule systemd knows and keeps. Naming the nodes (--device /dev/nvidiactl
#                         --device /dev/nvidia0 …) does the same where the driver makes links to them below /dev/char.
#   --group-add           the group that may use Docker's socket, where it is not the DOCKER_GID of the build.
#   -v …docker.sock       to list and start containers. Whoever has it is close to root; so is this container.
#   For the Xids in the kernel's log, which take a card out: --device /dev/kmsg:/dev/kmsg:r --cap-add SYSLOG --user 0. Left out,
#                         the probe `kernel` is off and says so.
#   -v gpu-gate-state     remembers which gate this is, which cards it has seen and which are taken out. A folder of the
#                         machine does as well: chown 9840.
#   -v /data:/data:ro     every `mounts` root of the policy file at its own path: the gate looks a source up before it allows
#                         it, Docker mounts it. It reads nothing there.
#
# With a tokens file: -v /etc/tuneplane:/etc/tuneplane:ro -e TUNEPLANE_TOKENS_FILE=/etc/tuneplane/tokens; the file is
# chown 9840, chmod 0600. `docker run --rm tuneplane-gpu-gate:0.1.0 token new console --roles admit` makes a line for it.

# A tag moves. To build on the same base again and again, pin it: --build-arg NODE_DIGEST=@sha256:…, which is what
# `docker buildx imagetools inspect node:24-slim` tells under "Digest".
ARG NODE_IMAGE=node:24-slim
ARG NODE_DIGEST=

FROM ${NODE_IMAGE}${NODE_DIGEST} AS build
WORKDIR /build
COPY .npmrc package.json package-lock.json ./
RUN npm ci --include=dev --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY .ci/build.mjs .ci/build.mjs
COPY src src
RUN npm run build

FROM ${NODE_IMAGE}${NODE_DIGEST} AS dependencies
WORKDIR /build
COPY .npmrc package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts

FROM ${NODE_IMAGE}${NODE_DIGEST}
# Nothing installs or builds in here from now on. What node images bring for that is no part of the gate.
RUN rm -rf /usr/local/lib/node_modules /usr/local/include /opt/yarn* \
    /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg

# A user of its own: with --pid host, one that jobs use too could read what this process knows. The group may have the number
# of one that the base has already.
ARG DOCKER_GID=999
RUN groupadd --gid 9840 gpu-gate && \
    groupadd --gid "$DOCKER_GID" --non-unique docker-socket && \
    useradd --uid 9840 --gid gpu-gate --groups docker-socket --no-create-home --home-dir /var/lib/tuneplane-gpu-gate \
      --shell /usr/sbin/nologin gpu-gate && \
    mkdir -p /var/lib/tuneplane-gpu-gate && \
    chown gpu-gate:gpu-gate /var/lib/tuneplane-gpu-gate && \
    chmod 0700 /var/lib/tuneplane-gpu-gate && \
    ln -s /opt/tuneplane-gpu-gate/dist/cli/gpu-gate.js /usr/local/bin/gpu-gate

WORKDIR /opt/tuneplane-gpu-gate
COPY --from=dependencies /build/node_modules node_modules
COPY --from=build /build/dist dist
# The README is one of the pages that the gate serves.
COPY LICENSE README.md package.json ./

# Of the driver, what nvidia-smi needs and no more. Which cards is said by whoever runs it.
ENV NODE_ENV=production \
    NVIDIA_DRIVER_CAPABILITIES=utility \
    TUNEPLANE_STATE_DIR=/var/lib/tuneplane-gpu-gate \
    TUNEPLANE_LISTEN=127.0.0.1:9840 \
    TUNEPLANE_METRICS_LISTEN=0.0.0.0:9841
EXPOSE 9840 9841
VOLUME /var/lib/tuneplane-gpu-gate

ARG REVISION=unknown
RUN echo "$REVISION" > REVISION
ARG NODE_IMAGE
ARG NODE_DIGEST
LABEL org.opencontainers.image.title="tuneplane-gpu-gate" \
      org.opencontainers.image.description="Decides which job gets which GPU of this machine, and shows who has them." \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="${NODE_IMAGE}${NODE_DIGEST}"

USER gpu-gate
STOPSIGNAL SIGTERM
# Asks where the gate listens, as the environment says: set the addresses there and not by flags. A gate that is blind or has
# lost its Redis is healthy: it says so itself, and a new start would mend nothing. Where TLS is spoken, a handshake is enough.
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s --retries=3 CMD ["node", "-e", "\
  const { TUNEPLANE_METRICS_LISTEN: metrics, TUNEPLANE_LISTEN: main, TUNEPLANE_WEB_CONFIG_FILE: web } = process.env;\
  const [first] = (metrics || main).split(',');\
  const unix = first.startsWith('unix:');\
  const end = (well) => process.exit(well ? 0 : 1);\
  const where = unix ? { socketPath: first.slice(5), path: '/healthz' } : 'http://' + first + '/healthz';\
  const ask = () => require('http').get(where, (answer) => end(answer.statusCode === 200)).on('error', () => end(false));\
  const { hostname, port } = unix ? {} : new URL(where);\
  const tls = { host: hostname && hostname.replace(/[\\[\\]]/g, ''), port, rejectUnauthorized: false };\
  if (web && !unix) require('tls').connect(tls, () => end(true)).on('error', ask);\
  else ask();"]
ENTRYPOINT ["gpu-gate"]
CMD ["serve"]
