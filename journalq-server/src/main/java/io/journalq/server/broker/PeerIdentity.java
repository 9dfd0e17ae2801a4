package io.journalq.server.broker;

import io.journalq.server.control.QuorumTls;
import io.journalq.server.network.tls.TlsFiles;
import io.journalq.server.peer.PeerEncryption;
import io.journalq.server.security.Principal;
import io.journalq.server.security.PrincipalRules;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.Set;

/**
 * Who this broker is for the other brokers of its cluster, and who they are for it. A trusted certificate is that of a
 * broker if it names the same user as the certificate of this broker, or one of {@code broker.principals}. Any thread.
 */
final class PeerIdentity implements PeerEncryption {
    private final TlsFiles files;
    private final PrincipalRules rules;
    private final Set<String> named;

    /** @param named users that are brokers, too */
    PeerIdentity(TlsFiles files, PrincipalRules rules, Collection<String> named) {
        this.files = files;
        this.rules = rules;
        this.named = Set.copyOf(named);
    }

    @Override
    public SslHandler handler(Channel channel, String host, int port) {
        return files.transport().connect(channel, host, port);
    }

    @Override
    public boolean isBroker(X509Certificate certificate) {
        try {
            return isBroker(rules.of(certificate));
        } catch (IllegalArgumentException noRuleMatches) {
            return false;
        }
    }

    /** Whether a user that a trusted certificate names is a broker. */
    boolean isBroker(Principal principal) {
        if (principal.equals(Principal.ANONYMOUS)) {
            return false;
        }
        return named.contains(principal.name()) || principal.equals(self());
    }

    /** From the newest certificate of this broker. */
    private Principal self() {
        try {
            return rules.of(files.transport().ownCertificate());
        } catch (IllegalArgumentException noRuleMatches) {
            return Principal.ANONYMOUS;
        }
    }

    /** The identity for the connections of the quorum, which its library opens. */
    QuorumTls forQuorum() {
        return new QuorumTls(files.keys(), files.trust(this::isBroker));
    }
}
