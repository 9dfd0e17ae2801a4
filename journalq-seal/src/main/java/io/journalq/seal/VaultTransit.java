package io.journalq.seal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Keys of roles in the Transit engine of HashiCorp Vault, which never leave it: the key of a role is the RSA key of the
 * same name, and a generation is a version of that key. Producers encrypt with the public key in the registry and do not
 * need Vault. A consumer asks Vault once for each epoch. Any thread.
 *
 * <p>The token needs {@code read} on {@code MOUNT/keys/ROLE} and {@code update} on {@code MOUNT/decrypt/ROLE}. Its file
 * is read for each request, so that it can be replaced. A request that gets no response, or one that may be different the
 * next time (status 412, 429 and from 472 on), is sent {@value #MAX_ATTEMPTS} times in all.
 *
 * <p>Source: the HTTP API of Vault, <i>Transit secrets engine</i>.
 */
public final class VaultTransit implements RoleKeySource {
    /** Maximum number of times that a request is sent. */
    public static final int MAX_ATTEMPTS = KeyService.MAX_ATTEMPTS;

    private static final int MAX_TOKEN_BYTES = 4_096;
    private static final int PRECONDITION_FAILED = 412;
    private static final int FIRST_SERVER_ERROR = 472;
    private static final Pattern PLAINTEXT = Pattern.compile("\"plaintext\"\\s*:\\s*\"([A-Za-z0-9+/=]*)\"");
    private static final Pattern MIN_VERSION = Pattern.compile("\"min_decryption_version\"\\s*:\\s*([0-9]{1,9})");
    private static final Pattern ERRORS = Pattern.compile("\"errors\"\\s*:\\s*\\[([^\\]]*)\\]");
    private static final Pattern PEM =
            Pattern.compile("-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\\\\n]+?)-----END PUBLIC KEY-----(?:\\\\n)*");

    private final String base;
    private final Path tokenFile;
    private final String namespace;
    private final Set<String> roles;
    private final KeyService service;
    private final Map<String, RsaRoleKey> keys = new ConcurrentHashMap<>();

    private VaultTransit(Builder builder) {
        this.base = builder.address + "/v1/" + builder.mount + "/";
        this.tokenFile = Objects.requireNonNull(builder.tokenFile, "tokenFile");
        this.namespace = builder.namespace;
        this.roles = Set.copyOf(builder.roles);
        this.service = new KeyService("Vault", builder.timeout, builder.tls, new Errors());
    }

    /**
     * Begins the settings.
     *
     * @param address such as {@code https://vault.example:8200}; {@code http} only for an address of this machine
     * @throws IllegalArgumentException if the address is of another form, or would send the token without encryption
     */
    public static Builder builder(URI address) {
        return new Builder(address);
    }

    /** The public key and the decryption of a version of a key. Null for roles that are not among those of this object. */
    @Override
    public RoleKey find(String role, int generation) throws IOException {
        if (!roles.contains(role)) {
            return null;
        }
        String name = role + "/" + generation;
        RsaRoleKey known = keys.get(name);
        if (known == null) {
            known = read(role, generation);
            keys.put(name, known);
        }
        return known;
    }

    private RsaRoleKey read(String role, int generation) throws IOException {
        KeyService.Response response =
                ask(HttpRequest.newBuilder(uri("keys", role)).GET());
        if (response.status() != KeyService.OK) {
            throw new IOException(
                    "Vault has no key " + role + " that this token may read (" + service.inWords(response) + ")");
        }
        Matcher version = Pattern.compile(
                        "\"" + generation + "\"\\s*:\\s*\\{[^{}]*?\"public_key\"\\s*:\\s*\"([^\"]*)\"")
                .matcher(response.body());
        Matcher pem = version.find() ? PEM.matcher(version.group(1)) : null;
        if (pem == null) {
            checkNotDestroyed(role, generation, response.body());
        }
        if (pem == null || !pem.matches()) {
            throw new IOException("the key " + role + " in Vault has no version " + generation
                    + " with a public key; it must be of the type rsa-3072 or rsa-4096");
        }
        try {
            return RsaRoleKey.remote(
                    Base64.getDecoder().decode(pem.group(1).replace("\\n", "")),
                    ciphertext -> decrypt(role, generation, ciphertext));
        } catch (IllegalArgumentException weak) {
            throw new IOException("the key " + role + " in Vault: " + weak.getMessage(), weak);
        }
    }

    /** Vault lists no version below {@code min_decryption_version}. */
    private static void checkNotDestroyed(String role, int generation, String body) throws DestroyedKeyException {
        Matcher minimum = MIN_VERSION.matcher(body);
        if (minimum.find() && Integer.parseInt(minimum.group(1)) > generation) {
            throw new DestroyedKeyException("Vault no longer decrypts by version " + generation + " of the key " + role
                    + ", because its min_decryption_version is " + minimum.group(1));
        }
    }

    private byte[] decrypt(String role, int generation, byte[] ciphertext)
            throws GeneralSecurityException, IOException {
        String body = "{\"ciphertext\":\"vault:v" + generation + ":"
                + Base64.getEncoder().encodeToString(ciphertext) + "\"}";
        KeyService.Response response = ask(HttpRequest.newBuilder(uri("decrypt", role))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body)));
        if (response.status() == KeyService.BAD_REQUEST) {
            // Another key, or a version that was destroyed: it will be the same the next time.
            throw new GeneralSecurityException("Vault refuses to decrypt (" + service.inWords(response) + ")");
        }
        if (response.status() != KeyService.OK) {
            throw new IOException("Vault did not decrypt (" + service.inWords(response) + ")");
        }
        Matcher plaintext = PLAINTEXT.matcher(response.body());
        if (!plaintext.find()) {
            throw new IOException("the response of Vault has no plaintext");
        }
        try {
            return Base64.getDecoder().decode(plaintext.group(1));
        } catch (IllegalArgumentException malformed) {
            throw new IOException("the response of Vault has a malformed plaintext", malformed);
        }
    }

    private URI uri(String operation, String role) {
        return URI.create(base + operation + "/" + URLEncoder.encode(role, UTF_8));
    }

    /** Errors of Vault. */
    private static final class Errors implements KeyService.Language {
        @Override
        public boolean isPassing(KeyService.Response response) {
            return response.status() == PRECONDITION_FAILED
                    || response.status() == KeyService.TOO_MANY_REQUESTS
                    || response.status() >= FIRST_SERVER_ERROR;
        }

        @Override
        public String message(KeyService.Response response) {
            Matcher errors = ERRORS.matcher(response.body());
            return errors.find() ? errors.group(1) : "";
        }
    }

    private KeyService.Response ask(HttpRequest.Builder unsent) throws IOException {
        KeyService.Response response = service.ask(() -> {
            HttpRequest.Builder request =
                    unsent.copy().setHeader("X-Vault-Token", token()).setHeader("X-Vault-Request", "true");
            return (namespace == null ? request : request.setHeader("X-Vault-Namespace", namespace)).build();
        });
        if (response.status() == KeyService.FORBIDDEN) {
            throw new IOException("Vault refuses the token in " + tokenFile + " (" + service.inWords(response) + ")");
        }
        return response;
    }

    private String token() throws IOException {
        String token;
        try {
            token = Files.size(tokenFile) > MAX_TOKEN_BYTES
                    ? null
                    : Files.readString(tokenFile).strip();
        } catch (IOException unreadable) {
            throw new IOException("cannot read the token in " + tokenFile, unreadable);
        }
        if (token == null) {
            throw new IOException(tokenFile + " is larger than " + MAX_TOKEN_BYTES + " bytes");
        }
        if (token.isEmpty() || token.chars().anyMatch(c -> c <= ' ' || c > '~')) {
            throw new IOException(tokenFile + " has no token in one line");
        }
        return token;
    }

    /** The settings. Not thread-safe. */
    public static final class Builder {
        private static final Pattern MOUNT = Pattern.compile("[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*");
        private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);

        private final String address;
        private String mount = "transit";
        private Path tokenFile;
        private String namespace;
        private List<String> roles = List.of();
        private Duration timeout = DEFAULT_TIMEOUT;
        private SSLContext tls;

        private Builder(URI address) {
            KeyService.checkAddress("Vault", address, "the token");
            String text = address.toString();
            this.address = text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
        }

        /** The path at which the Transit engine is mounted. Default {@code transit}. */
        public Builder mount(String path) {
            if (!MOUNT.matcher(path).matches()) {
                throw new IllegalArgumentException("a mount is a path such as transit: " + path);
            }
            this.mount = path;
            return this;
        }

        /** The file with the token, such as the sink of a Vault agent. */
        public Builder tokenFile(Path file) {
            this.tokenFile = file;
            return this;
        }

        /** The namespace of Vault Enterprise. Default none. */
        public Builder namespace(String name) {
            this.namespace = name;
            return this;
        }

        /** The roles whose keys are in Vault. */
        public Builder roles(List<String> names) {
            names.forEach(name -> Registry.checkName("role", name));
            this.roles = new ArrayList<>(names);
            return this;
        }

        /** How long one request can take. More than zero, default 10 s. */
        public Builder timeout(Duration duration) {
            this.timeout = KeyService.checkTimeout(duration);
            return this;
        }

        /**
         * The authorities that sign the certificate of Vault. Default those of Java.
         *
         * @param pem a file with certificates
         * @throws IOException if the file cannot be used
         */
        public Builder authorities(Path pem) throws IOException {
            try (InputStream in = Files.newInputStream(pem)) {
                KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
                trusted.load(null, null);
                int number = 0;
                for (Certificate authority :
                        CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                    trusted.setCertificateEntry("authority-" + number++, authority);
                }
                if (number == 0) {
                    throw new IOException(pem + " has no certificate");
                }
                TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
                trust.init(trusted);
                tls = SSLContext.getInstance("TLS");
                tls.init(null, trust.getTrustManagers(), null);
                return this;
            } catch (GeneralSecurityException malformed) {
                throw new IOException(
                        "cannot read certificates from " + pem + ": " + malformed.getMessage(), malformed);
            }
        }

        /** Creates the source. Nothing is asked yet. */
        public VaultTransit build() {
            return new VaultTransit(this);
        }
    }
}
