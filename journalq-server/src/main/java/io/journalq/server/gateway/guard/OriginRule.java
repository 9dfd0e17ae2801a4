package io.journalq.server.gateway.guard;

import java.util.Collection;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The origins of web pages whose requests may change something. A browser sends the Origin header with such requests,
 * other clients do not. Immutable.
 */
public final class OriginRule {
    private final String ownScheme;
    private final Set<String> origins;

    /**
     * Allows these origins, besides pages of the gateway itself.
     *
     * @param encrypted whether the gateway's own pages have the scheme https
     */
    public OriginRule(Collection<String> origins, boolean encrypted) {
        this.ownScheme = encrypted ? "https://" : "http://";
        this.origins = origins.stream()
                .map(origin -> origin.strip().toLowerCase(Locale.ROOT))
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Whether a page of this origin may change something.
     *
     * @param host the Host header, which was checked before
     */
    boolean allows(String origin, String host) {
        String lower = origin.strip().toLowerCase(Locale.ROOT);
        return lower.equals(ownScheme + host.strip().toLowerCase(Locale.ROOT)) || origins.contains(lower);
    }
}
