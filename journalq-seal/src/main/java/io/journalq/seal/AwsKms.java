package io.journalq.seal;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.journalq.seal.AwsSignature.Credentials;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Keys of roles in AWS KMS, which never leave it: the key of generation 1 of the role {@code auditors} is the RSA key with
 * the alias {@code alias/journalq/auditors/1}. Producers encrypt with the public key in the registry and do not need AWS. A
 * consumer asks AWS KMS once for each epoch. Any thread.
 *
 * <p>The credentials need {@code kms:GetPublicKey} and {@code kms:Decrypt} on the key. They come from a file that is named,
 * from the environment variables of AWS, or from the container. A request that gets no response, or one that may be
 * different the next time (throttling, and status 500 and above), is sent {@value #MAX_ATTEMPTS} times in all.
 *
 * <p>AWS KMS has no encryption context for RSA keys. What is decrypted contains a hash of the key packet and the role
 * instead ({@code KeyPacket}).
 *
 * <p>Source: <i>AWS Key Management Service API Reference</i>, version 2014-11-01.
 */
public final class AwsKms implements RoleKeySource {
    /** Maximum number of times that a request is sent. */
    public static final int MAX_ATTEMPTS = KeyService.MAX_ATTEMPTS;

    /** The section of a file with credentials that is used unless another one is named. */
    public static final String DEFAULT_PROFILE = "default";

    private static final String SERVICE = "kms";
    private static final String TARGET = "TrentService.";
    private static final String CONTENT_TYPE = "application/x-amz-json-1.1";
    private static final String ALGORITHM = "RSAES_OAEP_SHA_256";
    private static final int FIRST_SERVER_ERROR = 500;
    private static final Pattern TYPE = Pattern.compile("\"__type\"\\s*:\\s*\"(?:[^\"#]*#)?([A-Za-z]+)\"");
    /** What follows a line break is a copy of the request. */
    private static final Pattern MESSAGE = Pattern.compile("\"[mM]essage\"\\s*:\\s*\"([^\"\\\\]*)");

    private static final Pattern KEY_ID = Pattern.compile("\"KeyId\"\\s*:\\s*\"([A-Za-z0-9:/_-]+)\"");
    private static final Pattern PUBLIC_KEY = Pattern.compile("\"PublicKey\"\\s*:\\s*\"([A-Za-z0-9+/=]*)\"");
    /** Every RSA key of this usage decrypts by all algorithms of AWS KMS for RSA. */
    private static final Pattern USAGE = Pattern.compile("\"KeyUsage\"\\s*:\\s*\"ENCRYPT_DECRYPT\"");

    private static final Pattern PLAINTEXT = Pattern.compile("\"Plaintext\"\\s*:\\s*\"([A-Za-z0-9+/=]*)\"");

    /** Errors that the same request may not get the next time. */
    private static final Set<String> PASSING = Set.of(
            "ThrottlingException",
            "RequestThrottledException",
            "DependencyTimeoutException",
            "KeyUnavailableException",
            "KMSInternalException",
            "RequestTimeoutException");

    /** Errors of the ciphertext: it will be the same the next time. */
    private static final Set<String> WRONG_CIPHERTEXT = Set.of("InvalidCiphertextException", "IncorrectKeyException");

    private static final Set<String> WRONG_CREDENTIALS = Set.of(
            "UnrecognizedClientException",
            "InvalidClientTokenId",
            "InvalidSignatureException",
            "SignatureDoesNotMatch",
            "IncompleteSignatureException",
            "MissingAuthenticationTokenException",
            "ExpiredTokenException",
            "RequestExpired");

    private final String region;
    private final URI endpoint;
    private final String aliasPrefix;
    private final Set<String> roles;
    private final AwsCredentialsProvider credentials;
    private final KeyService service;
    private final Map<String, RsaRoleKey> keys = new ConcurrentHashMap<>();

    private AwsKms(Builder builder) {
        this.region = builder.region;
        this.endpoint = builder.endpoint;
        this.aliasPrefix = builder.aliasPrefix;
        this.roles = Set.copyOf(builder.roles);
        this.credentials = new AwsCredentialsProvider(
                builder.credentialsFile, builder.profile, builder.environment, builder.timeout);
        this.service = new KeyService("AWS KMS", builder.timeout, null, new Errors());
    }

    /**
     * Begins the settings.
     *
     * @param region such as {@code eu-central-1}
     * @throws IllegalArgumentException if this is not the name of a region
     */
    public static Builder builder(String region) {
        return new Builder(region);
    }

    /** The public key and the decryption of a generation. Null for roles that are not among those of this object. */
    @Override
    public RoleKey find(String role, int generation) throws IOException {
        if (!roles.contains(role)) {
            return null;
        }
        String alias = aliasPrefix + role + "/" + generation;
        RsaRoleKey known = keys.get(alias);
        if (known == null) {
            known = read(alias);
            keys.put(alias, known);
        }
        return known;
    }

    private RsaRoleKey read(String alias) throws IOException {
        KeyService.Response response = ask("GetPublicKey", "{\"KeyId\":\"" + alias + "\"}");
        if (response.status() != KeyService.OK) {
            throw new IOException("AWS KMS has no key " + alias + " in region " + region
                    + " that these credentials may read (" + service.inWords(response) + ")");
        }
        // The alias can be given to another key while this one is in use.
        String keyId = field(KEY_ID, response);
        String publicKey = field(PUBLIC_KEY, response);
        if (keyId == null
                || publicKey == null
                || !USAGE.matcher(response.body()).find()) {
            throw new IOException("the key " + alias + " in AWS KMS does not decrypt by " + ALGORITHM
                    + "; it must have the key spec RSA_3072 or RSA_4096 and the key usage ENCRYPT_DECRYPT");
        }
        try {
            return RsaRoleKey.remote(Base64.getDecoder().decode(publicKey), ciphertext -> decrypt(keyId, ciphertext));
        } catch (IllegalArgumentException weak) {
            throw new IOException("the key " + alias + " in AWS KMS: " + weak.getMessage(), weak);
        }
    }

    private byte[] decrypt(String keyId, byte[] ciphertext) throws GeneralSecurityException, IOException {
        String body = "{\"KeyId\":\"" + keyId + "\",\"CiphertextBlob\":\""
                + Base64.getEncoder().encodeToString(ciphertext) + "\",\"EncryptionAlgorithm\":\"" + ALGORITHM + "\"}";
        KeyService.Response response = ask("Decrypt", body);
        if (WRONG_CIPHERTEXT.contains(type(response))) {
            throw new GeneralSecurityException("AWS KMS refuses to decrypt (" + service.inWords(response) + ")");
        }
        if (response.status() != KeyService.OK) {
            throw new IOException("AWS KMS did not decrypt (" + service.inWords(response) + ")");
        }
        String plaintext = field(PLAINTEXT, response);
        if (plaintext == null || !keyId.equals(field(KEY_ID, response))) {
            throw new IOException("the response of AWS KMS has no plaintext of key " + keyId);
        }
        try {
            return Base64.getDecoder().decode(plaintext);
        } catch (IllegalArgumentException malformed) {
            throw new IOException("the response of AWS KMS has a malformed plaintext", malformed);
        }
    }

    private static String field(Pattern pattern, KeyService.Response response) {
        Matcher matcher = pattern.matcher(response.body());
        return matcher.find() ? matcher.group(1) : null;
    }

    /** The type of an error; empty if the response is none. */
    private static String type(KeyService.Response response) {
        String type = response.status() == KeyService.OK ? null : field(TYPE, response);
        return type == null ? "" : type;
    }

    /** Errors of AWS. */
    private static final class Errors implements KeyService.Language {
        @Override
        public boolean isPassing(KeyService.Response response) {
            return response.status() == KeyService.TOO_MANY_REQUESTS
                    || response.status() >= FIRST_SERVER_ERROR
                    || PASSING.contains(type(response));
        }

        @Override
        public String message(KeyService.Response response) {
            String type = type(response);
            String message = field(MESSAGE, response);
            return message == null || message.isBlank() ? type : type + ": " + message;
        }
    }

    private KeyService.Response ask(String operation, String body) throws IOException {
        byte[] content = body.getBytes(UTF_8);
        KeyService.Response response = service.ask(() -> request(operation, content));
        if (WRONG_CREDENTIALS.contains(type(response))) {
            throw new IOException("AWS KMS refuses the credentials of " + credentials.origin() + " ("
                    + service.inWords(response) + ")");
        }
        return response;
    }

    /** Each request has a signature of its own, because it contains the time. */
    private HttpRequest request(String operation, byte[] content) throws IOException {
        Credentials key = credentials.current();
        SortedMap<String, String> headers = new TreeMap<>();
        headers.put("content-type", CONTENT_TYPE);
        headers.put("x-amz-target", TARGET + operation);
        headers.put(AwsSignature.DATE, AwsSignature.time(Instant.now()));
        if (key.sessionToken() != null) {
            headers.put("x-amz-security-token", key.sessionToken());
        }
        HttpRequest.Builder request =
                HttpRequest.newBuilder(endpoint).POST(HttpRequest.BodyPublishers.ofByteArray(content));
        headers.forEach(request::header);
        headers.put("host", host());
        return request.header("authorization", AwsSignature.authorization(key, region, SERVICE, headers, content))
                .build();
    }

    /** The header {@code Host} as the client of Java writes it. */
    private String host() {
        int usual = "https".equals(endpoint.getScheme()) ? 443 : 80;
        return endpoint.getPort() == -1 || endpoint.getPort() == usual
                ? endpoint.getHost()
                : endpoint.getHost() + ":" + endpoint.getPort();
    }

    /** The settings. Not thread-safe. */
    public static final class Builder {
        private static final Pattern REGION = Pattern.compile("[a-z]{2,}(?:-[a-z]+)+-\\d+");
        private static final Pattern PREFIX =
                Pattern.compile("(?:arn:aws[a-z-]*:kms:[a-z0-9-]+:\\d{12}:)?alias/(?:[A-Za-z0-9_-]+/)*");
        private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);

        private final String region;
        private URI endpoint;
        private String aliasPrefix = "alias/journalq/";
        private Path credentialsFile;
        private String profile = DEFAULT_PROFILE;
        private List<String> roles = List.of();
        private Duration timeout = DEFAULT_TIMEOUT;
        private Map<String, String> environment = System.getenv();

        private Builder(String region) {
            if (!REGION.matcher(region).matches()) {
                throw new IllegalArgumentException("a region of AWS has a name such as eu-central-1: " + region);
            }
            this.region = region;
            this.endpoint = URI.create("https://kms." + region
                    + (region.startsWith("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com") + "/");
        }

        /**
         * The address of AWS KMS, such as that of a VPC endpoint. Default that of the region.
         *
         * @param address {@code https}, or {@code http} only for an address of this machine; without a path
         * @throws IllegalArgumentException if the address is of another form, or would get keys without encryption
         */
        public Builder endpoint(URI address) {
            KeyService.checkAddress("AWS KMS", address, "keys");
            String path = address.getRawPath();
            if ((path != null && !path.isEmpty() && !path.equals("/"))
                    || address.getRawQuery() != null
                    || address.getRawUserInfo() != null) {
                throw new IllegalArgumentException("the address of AWS KMS has the form https://HOST:PORT: " + address);
            }
            this.endpoint = address.resolve("/");
            return this;
        }

        /**
         * What precedes ROLE/GENERATION in the alias of a key. Default {@code alias/journalq/}. For keys of another account,
         * the ARN: {@code arn:aws:kms:REGION:ACCOUNT:alias/journalq/}.
         */
        public Builder aliasPrefix(String prefix) {
            if (!PREFIX.matcher(prefix).matches()) {
                throw new IllegalArgumentException("a prefix of aliases has the form alias/journalq/: " + prefix);
            }
            this.aliasPrefix = prefix;
            return this;
        }

        /**
         * A file with credentials, of the form that the tools of AWS have. Default none: the environment variables of AWS, or
         * those of its containers.
         *
         * @param name the section of the file, such as {@code default}
         */
        public Builder credentials(Path file, String name) {
            this.credentialsFile = file;
            this.profile = name;
            return this;
        }

        /**
         * The roles whose keys are in AWS KMS.
         *
         * @throws IllegalArgumentException if an alias cannot contain the name
         */
        public Builder roles(List<String> names) {
            for (String name : names) {
                Registry.checkName("role", name);
                if (name.indexOf('.') >= 0) {
                    throw new IllegalArgumentException(
                            "an alias of AWS KMS cannot contain dots; choose another name for the role: " + name);
                }
            }
            this.roles = List.copyOf(names);
            return this;
        }

        /** How long one request can take. More than zero, default 10 s. */
        public Builder timeout(Duration duration) {
            this.timeout = KeyService.checkTimeout(duration);
            return this;
        }

        /** The environment variables. Default those of the process. */
        Builder environment(Map<String, String> variables) {
            this.environment = variables;
            return this;
        }

        /** Creates the source. Nothing is asked yet. */
        public AwsKms build() {
            return new AwsKms(this);
        }
    }
}
