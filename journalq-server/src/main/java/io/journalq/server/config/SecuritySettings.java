package io.journalq.server.config;

import java.util.List;

/** The settings that decide how open a broker may be. */
public final class SecuritySettings {
    public static final String DEVELOPMENT = "development";
    public static final String PRODUCTION = "production";

    public static final ConfigKey<String> SECURITY_PROFILE = ConfigKey.ofChoice(
            "security.profile",
            DEVELOPMENT,
            List.of(DEVELOPMENT, PRODUCTION),
            "How open the broker may be. development: it does not start if clients of other machines need neither a "
                    + "login nor a certificate, unless allow.insecure.listeners is true. production: it does not start "
                    + "with a listener that is not encrypted or does not authenticate its clients, even on localhost, "
                    + "nor with an admin listener that other machines can reach without encryption, with "
                    + "auto.create.topics.enable, allow.everyone.if.no.acl.found or the super user User:ANONYMOUS, or with "
                    + "files of keys and passwords that other users can read.");
    public static final ConfigKey<Boolean> ALLOW_INSECURE_LISTENERS = ConfigKey.ofBoolean(
            "allow.insecure.listeners",
            false,
            "Whether the profile development allows listeners that other machines can reach, and whose clients need "
                    + "neither a login nor a certificate. journalq-server start --insecure sets it for one start. Only "
                    + "for networks in which everybody may read and change all data.");

    /** These settings, in the order of {@code conf/journalq.yaml}. */
    static final List<ConfigKey<?>> ALL = List.of(SECURITY_PROFILE, ALLOW_INSECURE_LISTENERS);

    private SecuritySettings() {}
}
