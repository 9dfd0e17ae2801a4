# An image of one JournalQ broker, from the archive that the build writes:
#
#   mvn -DskipTests package
#   docker build -t journalq:dev .
#
# The broker runs as user 10001, and its data is in the volume /var/lib/journalq. See docs/guides/install.md.

FROM eclipse-temurin:25-jre AS unpacked
ADD journalq-dist/target/journalq-*.tar.gz /unpacked/
RUN mv /unpacked/journalq-* /opt/journalq

FROM eclipse-temurin:25-jre
RUN groupadd --gid 10001 journalq \
    && useradd --uid 10001 --gid journalq --no-create-home --home-dir /var/lib/journalq --shell /usr/sbin/nologin journalq \
    && install -d -o journalq -g journalq -m 0750 /var/lib/journalq
COPY --from=unpacked /opt/journalq /opt/journalq

# Other containers connect, so the listeners are on all interfaces. Publish their ports only where clients need them.
ENV JOURNALQ_LISTENERS=PLAINTEXT://0.0.0.0:9092
ENV JOURNALQ_ADMIN_LISTENER=0.0.0.0:9644
# The network of the containers decides who can connect. Set it to false if your listeners authenticate their clients.
ENV JOURNALQ_ALLOW_INSECURE_LISTENERS=true
# Only this container could reach the default address of the HTTP gateway.
ENV JOURNALQ_GATEWAY_LISTENER=
ENV JOURNALQ_DATA_DIRECTORIES=/var/lib/journalq

USER 10001:10001
WORKDIR /var/lib/journalq
VOLUME /var/lib/journalq
EXPOSE 9092 9644
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["/opt/journalq/bin/journalq-server", "status"]
ENTRYPOINT ["/opt/journalq/bin/journalq-server", "start", "--foreground"]
