/**
 * TLS on listeners. {@link io.journalq.server.network.tls.TlsTransport} encrypts the connections of a listener with the
 * newest {@link io.journalq.server.network.tls.TlsContext}, which {@link io.journalq.server.network.tls.TlsFiles} builds
 * from files and replaces when they change.
 *
 * <p>The handlers of a connection, from the socket: {@link io.journalq.server.network.tls.TlsStart}, and from the first
 * byte of the client on Netty's {@code SslHandler}, whose expensive steps run in the {@link
 * io.journalq.server.network.tls.HandshakePool}; {@link io.journalq.server.network.tls.TlsWatch}, which counts
 * handshakes and their failures; {@link io.journalq.server.network.tls.RegionPump}, which reads records from their files
 * because they have to be encrypted; then the handlers of the protocol.
 *
 * <p>This package knows nothing of protocols and settings.
 */
package io.journalq.server.network.tls;
