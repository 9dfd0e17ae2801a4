package io.journalq.server.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;

/** The settings of a broker's listeners: for clients with their TLS, for administration, for HTTP, and for the quorum. */
public final class ListenerSettings {
    static final String TOKEN_MECHANISM = "OAUTHBEARER";

    private static final List<String> SASL_MECHANISMS =
            List.of("SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN", TOKEN_MECHANISM);
    private static final List<String> STORE_TYPES = List.of("PKCS12", "PEM");

    public static final ConfigKey<List<String>> LISTENERS = ConfigKey.ofList(
                    "listeners",
                    List.of("PLAINTEXT://localhost:9092"),
                    "Addresses on which clients connect, as NAME://host:port. An empty host binds all interfaces, "
                            + "and port 0 any free port. listener.security.protocol.map assigns a security protocol to "
                            + "each name. The broker warns about each listener of PLAINTEXT that other machines can "
                            + "reach.",
                    ListenerSettings::readListener)
            .atLeastOneItem();
    public static final ConfigKey<List<String>> LISTENER_SECURITY_PROTOCOL_MAP = ConfigKey.ofList(
            "listener.security.protocol.map",
            ListenerProtocols.DEFAULT,
            "Security protocol of each listener, as NAME:PROTOCOL. The protocols are those of Kafka: PLAINTEXT, SSL, "
                    + "SASL_PLAINTEXT and SASL_SSL. The broker refuses to start with a listener of an unknown protocol.",
            ListenerProtocols::readItem);
    public static final ConfigKey<List<String>> ADVERTISED_LISTENERS = ConfigKey.ofList(
            "advertised.listeners",
            List.of(),
            "Addresses that the broker gives to clients, as NAME://host:port. Clients of a listener that is not named "
                    + "here get the listener's own address. If that is all interfaces, they get the address that they "
                    + "connected to. The name of quorum.listener, if no other listener has it, is for brokers.",
            ListenerSettings::readListener);
    public static final ConfigKey<String> SSL_KEYSTORE_LOCATION = ConfigKey.ofText(
                    "ssl.keystore.location",
                    "",
                    "File with the private key of the broker and its certificate chain, for listeners of SSL and "
                            + "SASL_SSL. A relative path is relative to the directory that contains bin. The broker looks every 10 s whether this and the "
                            + "other files of ssl.* have changed. New connections then use the new content. If it cannot be "
                            + "used, the previous one stays in use, and the broker logs an error.")
            .checkedBy(ListenerSettings::readFile);
    public static final ConfigKey<String> SSL_KEYSTORE_TYPE = ConfigKey.ofChoice(
            "ssl.keystore.type",
            "PKCS12",
            STORE_TYPES,
            "Format of ssl.keystore.location. A PEM file contains the key in PKCS #8 and the certificates, that of the "
                    + "broker first.");
    public static final ConfigKey<String> SSL_KEYSTORE_PASSWORD_FILE = ConfigKey.ofText(
                    "ssl.keystore.password.file",
                    "",
                    "File with the password of ssl.keystore.location. Required for PKCS12.")
            .checkedBy(ListenerSettings::readFile);
    public static final ConfigKey<String> SSL_KEY_PASSWORD_FILE = ConfigKey.ofText(
                    "ssl.key.password.file",
                    "",
                    "File with the password of the private key. If empty, the key of a PKCS12 file has the password of the file, "
                            + "and the key of a PEM file is not encrypted.")
            .checkedBy(ListenerSettings::readFile);
    public static final ConfigKey<String> SSL_TRUSTSTORE_LOCATION = ConfigKey.ofText(
                    "ssl.truststore.location",
                    "",
                    "File with the certificates of the authorities that sign those of clients. Required if ssl.client.auth is not "
                            + "none. When it changes, connections of clients that it no longer covers are closed.")
            .checkedBy(ListenerSettings::readFile);
    public static final ConfigKey<String> SSL_TRUSTSTORE_TYPE =
            ConfigKey.ofChoice("ssl.truststore.type", "PKCS12", STORE_TYPES, "Format of ssl.truststore.location.");
    public static final ConfigKey<String> SSL_TRUSTSTORE_PASSWORD_FILE = ConfigKey.ofText(
                    "ssl.truststore.password.file",
                    "",
                    "File with the password of ssl.truststore.location. Required for PKCS12.")
            .checkedBy(ListenerSettings::readFile);
    public static final ConfigKey<String> SSL_CLIENT_AUTH = ConfigKey.ofChoice(
            "ssl.client.auth",
            "none",
            List.of("none", "requested", "required"),
            "Whether clients present a certificate. required: connections without one are closed. requested: a client "
                    + "without one is User:ANONYMOUS. On listeners of SASL_SSL, clients present a certificate in addition "
                    + "to their login, which names the user.");
    public static final ConfigKey<String> SSL_PRINCIPAL_MAPPING_RULES = ConfigKey.ofText(
            "ssl.principal.mapping.rules",
            "DEFAULT",
            "How the distinguished name of a client's certificate becomes the name of its user, as in Kafka: rules of the "
                    + "form RULE:pattern/replacement/ with an optional L or U at the end for lower or upper case, or "
                    + "DEFAULT for the name itself, separated by commas. The first rule whose pattern matches the whole "
                    + "name applies. If none does, the connection is closed. Patterns have the syntax of RE2.");
    public static final ConfigKey<List<String>> SSL_ENABLED_PROTOCOLS = ConfigKey.ofList(
                    "ssl.enabled.protocols",
                    List.of("TLSv1.3", "TLSv1.2"),
                    "Versions of TLS that clients may use.",
                    ConfigKey.choiceOf(List.of("TLSv1.3", "TLSv1.2")))
            .atLeastOneItem();
    public static final ConfigKey<List<String>> SSL_CIPHER_SUITES = ConfigKey.ofList(
            "ssl.cipher.suites",
            List.of(),
            "Cipher suites that clients may use, in order of preference, by the names of the JDK. If empty, the suites of "
                    + "TLS 1.3, and those of TLS 1.2 with ECDHE and AES-GCM or ChaCha20. With a list and TLS 1.3, the JDK "
                    + "encrypts, because BoringSSL cannot choose among the suites of TLS 1.3.");
    public static final ConfigKey<String> SSL_KEYSTORE_PASSWORD =
            ConfigKey.ofPassword("ssl.keystore.password", "write it to a file and set ssl.keystore.password.file");
    public static final ConfigKey<String> SSL_KEY_PASSWORD =
            ConfigKey.ofPassword("ssl.key.password", "write it to a file and set ssl.key.password.file");
    public static final ConfigKey<String> SSL_TRUSTSTORE_PASSWORD =
            ConfigKey.ofPassword("ssl.truststore.password", "write it to a file and set ssl.truststore.password.file");
    public static final ConfigKey<String> SSL_KEYSTORE_KEY = ConfigKey.ofPassword(
            "ssl.keystore.key", "write it to a PEM file with the certificates and set ssl.keystore.location");
    public static final ConfigKey<List<String>> SASL_ENABLED_MECHANISMS = ConfigKey.ofList(
                    "sasl.enabled.mechanisms",
                    List.of("SCRAM-SHA-256", "SCRAM-SHA-512"),
                    "Mechanisms by which clients log in on listeners of SASL_SSL and SASL_PLAINTEXT. PLAIN "
                            + "and OAUTHBEARER send the password or the token itself, and are offered only on listeners "
                            + "of SASL_SSL. The HTTP gateway accepts tokens if OAUTHBEARER is listed, and passwords if "
                            + "another mechanism is. Passwords are checked "
                            + "against the credentials that journalq-server users add and AlterUserScramCredentials "
                            + "create.",
                    ConfigKey.choiceOf(SASL_MECHANISMS))
            .atLeastOneItem();
    public static final ConfigKey<Long> CONNECTIONS_MAX_REAUTH_MS = ConfigKey.ofLong(
            "connections.max.reauth.ms",
            ConfigUnit.MILLISECONDS,
            0,
            0,
            Integer.MAX_VALUE,
            "Lifetime of the session that begins with a login by SASL. Clients log in again before it ends, on the same "
                    + "connection (KIP-368). Otherwise no other request is served after this time, and the connection is "
                    + "closed 10 s later. 0: sessions do not end, so that a connection outlives the credentials of its "
                    + "user.");
    public static final ConfigKey<String> SASL_JAAS_CONFIG = ConfigKey.ofPassword(
            "sasl.jaas.config", "create users with journalq-server users add, or with the Admin API");
    public static final ConfigKey<String> ADMIN_LISTENER = ConfigKey.ofText(
                    "admin.listener",
                    "localhost:9644",
                    "Address of /metrics and /health, as host:port, or as NAME://host:port with a name whose protocol in "
                            + "listener.security.protocol.map is SSL, for HTTPS. If empty, they are not served. Programs "
                            + "on this machine may read both. Over HTTPS, so may clients with a trusted certificate, the "
                            + "password of a user, or the token of admin.token.file. Other clients only read from "
                            + "/health whether the broker is up, unless allow.insecure.listeners is true and the "
                            + "connection is not encrypted.")
            .checkedBy(ListenerSettings::readAdminListener);
    public static final ConfigKey<String> ADMIN_TOKEN_FILE = ConfigKey.ofText(
                    "admin.token.file",
                    "",
                    "File with a token of 16 characters at least. A client of the admin listener that sends it over HTTPS, "
                            + "as Authorization: Bearer, may read /metrics. Read when the broker starts. If empty, there "
                            + "is no such token.")
            .checkedBy(ListenerSettings::readFile);
    public static final ConfigKey<List<String>> ADMIN_ALLOWED_HOSTS = ConfigKey.ofList(
            "admin.allowed.hosts",
            List.of(),
            "Additional host names in requests to the admin listener, such as that of a load balancer. "
                    + "Always allowed are IP addresses, localhost, this machine's host name, and the hosts of "
                    + "listeners, advertised.listeners and admin.listener. Requests for other names are refused, as "
                    + "protection from DNS rebinding.",
            ListenerSettings::readHostName);
    public static final ConfigKey<String> GATEWAY_LISTENER = ConfigKey.ofText(
                    "gateway.listener",
                    "localhost:8082",
                    "Address of the HTTP gateway, as host:port. As NAME://host:port, its connections have the security "
                            + "protocol that listener.security.protocol.map assigns to the name, such as "
                            + "SSL://0.0.0.0:8443. With SASL_SSL, clients send the password of a user with each request, "
                            + "as HTTP Basic, or a token, as HTTP Bearer, depending on sasl.enabled.mechanisms. If "
                            + "empty, there is no gateway.")
            .checkedBy(ListenerSettings::readAdminListener);
    public static final ConfigKey<Boolean> GATEWAY_ALLOW_ANONYMOUS = ConfigKey.ofBoolean(
            "gateway.allow.anonymous",
            false,
            "Whether the gateway may listen on an address that other machines can reach without authenticating its "
                    + "clients. If not, the broker starts with such an address only if the gateway uses SASL_SSL, or SSL "
                    + "and ssl.client.auth is required.");
    public static final ConfigKey<List<String>> GATEWAY_ALLOWED_HOSTS = ConfigKey.ofList(
            "gateway.allowed.hosts",
            List.of(),
            "Additional host names in requests to the gateway, such as that of a reverse proxy. The same names as for "
                    + "admin.allowed.hosts are always allowed. Requests for other names are refused, as protection from "
                    + "DNS rebinding.",
            ListenerSettings::readHostName);
    public static final ConfigKey<List<String>> GATEWAY_ALLOWED_ORIGINS = ConfigKey.ofList(
            "gateway.allowed.origins",
            List.of(),
            "Origins of web pages, as scheme://host:port, whose requests to the gateway may change something. Requests of "
                    + "other origins are refused. Clients that are not browsers send no origin.",
            ListenerSettings::readOrigin);
    public static final ConfigKey<Integer> GATEWAY_CONSUMER_INSTANCE_TIMEOUT_MS = ConfigKey.ofInt(
            "gateway.consumer.instance.timeout.ms",
            ConfigUnit.MILLISECONDS,
            300_000,
            100,
            Integer.MAX_VALUE,
            "Time after which a consumer instance of the gateway (/consumers) that is not used leaves its group.");
    public static final ConfigKey<String> QUORUM_LISTENER = ConfigKey.ofText(
                    "quorum.listener",
                    "",
                    "Address at which this broker votes on the metadata of a cluster, as host:port. If empty, the "
                            + "metadata log is a journal of this broker. With an address, the broker becomes the only "
                            + "voter of a metadata quorum at its next start, with all its data. There is no way back. "
                            + "Other brokers join with cluster.join. As NAME://host:port with a name whose protocol in "
                            + "listener.security.protocol.map is SSL, its connections are encrypted, and brokers prove "
                            + "who they are by certificates (ssl.client.auth=required), at all brokers alike. The other "
                            + "brokers get this address, or that of the same name in advertised.listeners. A voter keeps "
                            + "its address.")
            .checkedBy(ListenerSettings::readQuorumListener);

    public static final ConfigKey<List<String>> CLUSTER_JOIN = ConfigKey.ofList(
            "cluster.join",
            List.of(),
            "Addresses of brokers of a cluster, as host:port of their listeners for brokers. A broker without data joins "
                    + "that cluster and votes on its metadata, which needs quorum.listener. Any of the brokers is "
                    + "enough. Later starts ignore the setting. A broker with data of its own, and no setting "
                    + "cluster.join, is the first of a cluster.",
            ListenerSettings::readListener);
    public static final ConfigKey<String> INTER_BROKER_LISTENER_NAME = ConfigKey.ofText(
                    "inter.broker.listener.name",
                    "",
                    "Name of the listener at which the brokers of a cluster reach each other, the same in all brokers. "
                            + "If empty, it is the first of listeners. Its security protocol must be SSL, with "
                            + "ssl.client.auth=required, or PLAINTEXT.")
            .checkedBy(text -> ListenerAddress.canonicalName(text.strip()));
    public static final ConfigKey<List<String>> BROKER_PRINCIPALS = ConfigKey.ofList(
            "broker.principals",
            List.of(),
            "Users that are brokers of the cluster, without 'User:', as ssl.principal.mapping.rules derives them from "
                    + "certificates. The user of the certificate of this broker always is one. Requests that only brokers "
                    + "send are refused from others, if inter.broker.listener.name or quorum.listener is encrypted.");

    /** These settings, in the order of {@code conf/journalq.yaml}. */
    static final List<ConfigKey<?>> ALL = List.of(
            LISTENERS,
            LISTENER_SECURITY_PROTOCOL_MAP,
            ADVERTISED_LISTENERS,
            SSL_KEYSTORE_LOCATION,
            SSL_KEYSTORE_TYPE,
            SSL_KEYSTORE_PASSWORD_FILE,
            SSL_KEY_PASSWORD_FILE,
            SSL_TRUSTSTORE_LOCATION,
            SSL_TRUSTSTORE_TYPE,
            SSL_TRUSTSTORE_PASSWORD_FILE,
            SSL_CLIENT_AUTH,
            SSL_PRINCIPAL_MAPPING_RULES,
            SSL_ENABLED_PROTOCOLS,
            SSL_CIPHER_SUITES,
            SSL_KEYSTORE_PASSWORD,
            SSL_KEY_PASSWORD,
            SSL_TRUSTSTORE_PASSWORD,
            SSL_KEYSTORE_KEY,
            SASL_ENABLED_MECHANISMS,
            CONNECTIONS_MAX_REAUTH_MS,
            SASL_JAAS_CONFIG,
            ADMIN_LISTENER,
            ADMIN_TOKEN_FILE,
            ADMIN_ALLOWED_HOSTS,
            GATEWAY_LISTENER,
            GATEWAY_ALLOW_ANONYMOUS,
            GATEWAY_ALLOWED_HOSTS,
            GATEWAY_ALLOWED_ORIGINS,
            GATEWAY_CONSUMER_INSTANCE_TIMEOUT_MS,
            QUORUM_LISTENER,
            CLUSTER_JOIN,
            INTER_BROKER_LISTENER_NAME,
            BROKER_PRINCIPALS);

    /** Settings that are a path of a file, or empty. */
    static final List<ConfigKey<String>> FILES = List.of(
            SSL_KEYSTORE_LOCATION,
            SSL_KEYSTORE_PASSWORD_FILE,
            SSL_KEY_PASSWORD_FILE,
            SSL_TRUSTSTORE_LOCATION,
            SSL_TRUSTSTORE_PASSWORD_FILE,
            ADMIN_TOKEN_FILE);

    private ListenerSettings() {}

    private static String readListener(String text) throws ConfigException {
        return ListenerAddress.parse(text).toString();
    }

    private static String readHostName(String text) throws ConfigException {
        if (!text.matches("[A-Za-z0-9_.-]{1,253}")) {
            throw new ConfigException("'" + text + "' is not a host name");
        }
        return text;
    }

    private static String readOrigin(String text) throws ConfigException {
        if (!text.matches("https?://[A-Za-z0-9_.:\\[\\]-]{1,260}")) {
            throw new ConfigException("'" + text + "' is not an origin, such as https://example.com");
        }
        return text;
    }

    private static String readFile(String text) throws ConfigException {
        try {
            return Path.of(text.strip()).toString();
        } catch (InvalidPathException wrong) {
            throw new ConfigException("'" + text.strip() + "' is not a path: " + wrong.getReason());
        }
    }

    private static String readAdminListener(String text) throws ConfigException {
        if (!text.isBlank()) {
            ListenerAddress.parse(text);
        }
        return text.strip();
    }

    private static String readQuorumListener(String text) throws ConfigException {
        if (!text.isBlank()) {
            ListenerAddress address = ListenerAddress.parse(text);
            if (address.port() == 0) {
                throw new ConfigException("'" + text + "' must have a port");
            }
        }
        return text.strip();
    }
}
