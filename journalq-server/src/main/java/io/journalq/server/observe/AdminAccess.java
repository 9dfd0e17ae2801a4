package io.journalq.server.observe;

import io.journalq.server.loop.LoopCycle;
import io.journalq.server.network.LoopContext;
import io.journalq.server.network.Transport;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.security.cert.X509Certificate;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Who may read all pages of the admin listener: programs on this machine, and clients that prove who they are over an
 * encrypted connection. Others learn only whether the broker is up. Immutable, any thread.
 *
 * @param transport carries requests and responses
 * @param contexts creates what an encrypted connection needs to know of the loop of the listener
 * @param openToAll whether every client may read all pages
 * @param certificates whether the client that has presented a certificate may
 * @param authorizations whether the client at an address with this header {@code Authorization} may. A rejected execution
 *     means that it was not checked, and says why
 */
public record AdminAccess(
        Transport transport,
        Function<LoopCycle, LoopContext> contexts,
        boolean openToAll,
        Predicate<X509Certificate> certificates,
        BiFunction<String, SocketAddress, CompletionStage<Boolean>> authorizations) {
    /** Not encrypted, so that only programs on this machine may read all pages. */
    public static final AdminAccess OF_THIS_MACHINE = plain(false);

    /**
     * Access without encryption.
     *
     * @param openToAll whether clients on other machines may read all pages
     */
    public static AdminAccess plain(boolean openToAll) {
        return new AdminAccess(
                Transport.PLAIN,
                cycle -> null,
                openToAll,
                certificate -> false,
                (authorization, client) -> CompletableFuture.completedFuture(false));
    }

    boolean isEncrypted() {
        return transport != Transport.PLAIN;
    }

    /** Whether the client needs no header to read all pages. */
    boolean admits(Channel client, Transport.Line line, boolean forwarded) {
        return openToAll
                || (!forwarded && isOfThisMachine(client))
                || (line.clientCertificate() != null && certificates.test(line.clientCertificate()));
    }

    /** By the address of the connection. No header of a request can change it. */
    private static boolean isOfThisMachine(Channel client) {
        return client.remoteAddress() instanceof InetSocketAddress address
                && address.getAddress().isLoopbackAddress();
    }
}
