package io.journalq.server.api;

import io.journalq.common.check.Check;
import io.journalq.server.security.Right;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The rights that the handler of an API asks for. Each API states its rule where it states its versions, so that an API
 * cannot be served without one. Which right a request needs depends on what the request names; the handler asks.
 *
 * @param rights all rights that the handler may ask for; empty if everybody may use the API
 */
public record AccessRule(Set<Right> rights) {
    public AccessRule {
        rights = Collections.unmodifiableSet(rights);
    }

    /** The handler asks for each right of {@code rights} that a request needs. */
    public static AccessRule asks(Right... rights) {
        Check.that(rights.length > 0, "a rule without a right");
        Set<Right> all = EnumSet.noneOf(Right.class);
        all.addAll(List.of(rights));
        return new AccessRule(all);
    }

    /**
     * Everybody may use the API.
     *
     * @param reason why that is safe
     */
    public static AccessRule open(String reason) {
        Check.that(!reason.isEmpty(), "an open API without a reason");
        return new AccessRule(EnumSet.noneOf(Right.class));
    }

    /** Whether everybody may use the API. */
    public boolean isOpen() {
        return rights.isEmpty();
    }
}
