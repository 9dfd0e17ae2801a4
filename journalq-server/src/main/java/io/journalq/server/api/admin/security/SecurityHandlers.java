package io.journalq.server.api.admin.security;

import io.journalq.server.api.HandlerRegistry;

/** Registers the handlers of the APIs for the credentials of users and for access control. */
public final class SecurityHandlers {
    private SecurityHandlers() {}

    /** Registers the handlers. */
    public static void register(HandlerRegistry registry) {
        registry.register(new DescribeAclsHandler());
        registry.register(new CreateAclsHandler());
        registry.register(new DeleteAclsHandler());
        registry.register(new DescribeUserScramCredentialsHandler());
    }
}
