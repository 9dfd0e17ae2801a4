package io.journalq.seal;

import io.journalq.client.seal.BatchOpener;
import io.journalq.client.seal.BatchSealer;
import io.journalq.client.seal.KeyLog;
import io.journalq.common.id.TopicPartition;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Properties;

/**
 * How producers seal and consumers open batches: whom they trust, which keys they have, and how often keys change.
 * Immutable; use one policy for all clients of a process.
 *
 * <pre>{@code
 * SealPolicy policy = SealPolicy.load(Path.of("billing.seal"));
 * Producer producer = Producer.builder().seal(policy).build();
 * Consumer consumer = Consumer.builder().open(policy).groupId("billing").build();
 * }</pre>
 *
 * <p>A producer with a policy seals everything that it sends, and a consumer with a policy reads only sealed batches. What
 * cannot be sealed is not sent ({@link io.journalq.client.error.SealingException}), and what cannot be trusted is not
 * returned ({@link io.journalq.client.error.SealViolationException}).
 */
public final class SealPolicy implements BatchSealer.Factory, BatchOpener.Factory {
    private static final int MAX_PASSPHRASE_FILE_BYTES = 4_096;
    private static final String FIRST_USE = "first-use";
    private static final String COUNT = "count";
    private static final String REFUSE = "refuse";

    private final String realm;
    private final TrustPolicy trust;
    private final KeyVault vault;
    private final RoleKeySource roleKeys;
    private final String sender;
    private final Duration epochLifetime;
    private final Duration registryMaxAge;
    private final boolean refusesGaps;
    private final SubjectKeys subjects;
    private final ShreddedListener shreddedListener;

    /** Learns of records that nobody can read any more. */
    @FunctionalInterface
    public interface ShreddedListener {
        /**
         * A consumer leaves out a record, because the key of its subject was destroyed. Called by the thread that polls,
         * again whenever the record is read again. If it throws an exception, {@code poll} throws it after it has returned
         * the records of earlier batches, and the next poll reads the batch again.
         */
        void onShredded(TopicPartition partition, long offset);
    }

    private SealPolicy(Builder builder) {
        this.realm = Objects.requireNonNull(builder.realm, "realm");
        this.trust = Objects.requireNonNull(builder.trust, "trust");
        this.vault = Objects.requireNonNull(builder.vault, "vault");
        this.roleKeys = builder.roleKeys;
        this.sender = builder.sender;
        this.epochLifetime = builder.epochLifetime;
        this.registryMaxAge = builder.registryMaxAge;
        this.refusesGaps = builder.refusesGaps;
        this.subjects = builder.subjects;
        this.shreddedListener = builder.shreddedListener;
    }

    /** Returns a builder. Realm, trust and vault must be set. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Reads a policy from a file of properties. Paths are relative to the directory of the file.
     *
     * <ul>
     *   <li>{@code realm}: see {@link Builder#realm}
     *   <li>{@code root}: the fingerprint of the root key, or {@code first-use}
     *   <li>{@code keyring}: the file of the {@link KeyVault}; not needed by a consumer whose keys are in Vault or AWS KMS
     *   <li>{@code passphrase-file}: the file with its passphrase
     *   <li>{@code vault.address}, {@code vault.token-file}, {@code vault.roles}, separated by commas, and optionally {@code
     *       vault.mount}, {@code vault.namespace} and {@code vault.ca}: the keys of roles that are in {@link VaultTransit}
     *   <li>{@code aws.region}, {@code aws.roles}, separated by commas, and optionally {@code aws.endpoint}, {@code
     *       aws.alias-prefix}, {@code aws.credentials-file} and {@code aws.profile}: the keys of roles that are in {@link
     *       AwsKms}
     *   <li>{@code sender}: see {@link Builder#sender}; optional
     *   <li>{@code gaps}: {@code count}, or {@code refuse} for {@link Builder#refuseGaps}; by default {@code count}
     *   <li>{@code subjects} and {@code subjects-passphrase-file}: the directory of {@link SubjectKeys} and the file with
     *       its passphrase; by default, {@code passphrase-file}
     *   <li>{@code memory}: see {@link TrustPolicy#pinned}; by default the file of the keyring, or of the policy if there
     *       is no keyring, with {@code .trust} added
     * </ul>
     *
     * @throws IOException if a file cannot be read
     * @throws IllegalArgumentException if the file lacks a property or has an unknown one
     */
    public static SealPolicy load(Path file) throws IOException {
        return load(file, (partition, offset) -> {});
    }

    /**
     * Reads a policy from a file of properties, as {@link #load(Path)}.
     *
     * @param listener see {@link Builder#onShredded}
     */
    public static SealPolicy load(Path file, ShreddedListener listener) throws IOException {
        Properties properties = new Properties();
        try (var in = Files.newBufferedReader(file)) {
            properties.load(in);
        }
        String root = take(properties, file, "root");
        RoleKeySource roleKeys = roleKeys(properties, file);
        boolean hasKeyring = roleKeys == null || properties.containsKey("keyring");
        Path keyring = hasKeyring ? file.resolveSibling(take(properties, file, "keyring")) : file;
        SubjectKeys subjects = subjects(properties, file);
        KeyVault keys = hasKeyring
                ? KeyVault.open(keyring, passphrase(file.resolveSibling(take(properties, file, "passphrase-file"))))
                : KeyVault.inMemory();
        Object memoryName = properties.remove("memory");
        Path memory = memoryName == null
                ? keyring.resolveSibling(keyring.getFileName() + ".trust")
                : file.resolveSibling(memoryName.toString());
        Builder builder = builder()
                .realm(take(properties, file, "realm"))
                .trust(root.equals(FIRST_USE) ? TrustPolicy.onFirstUse(memory) : TrustPolicy.pinned(root, memory))
                .vault(keys)
                .subjects(subjects)
                .onShredded(listener);
        if (roleKeys != null) {
            builder.roleKeys(roleKeys);
        }
        Object sender = properties.remove("sender");
        if (sender != null) {
            builder.sender(sender.toString());
        }
        Object gaps = properties.remove("gaps");
        if (REFUSE.equals(gaps)) {
            builder.refuseGaps();
        } else if (gaps != null && !COUNT.equals(gaps)) {
            throw new IllegalArgumentException(file + ": gaps is " + gaps + ", and must be count or refuse");
        }
        if (!properties.isEmpty()) {
            throw new IllegalArgumentException(file + " has unknown properties: " + properties.keySet());
        }
        return builder.build();
    }

    /** Null if the policy names no keys of subjects. */
    private static SubjectKeys subjects(Properties properties, Path file) throws IOException {
        Object directory = properties.remove("subjects");
        if (directory == null) {
            return null;
        }
        Object own = properties.remove("subjects-passphrase-file");
        Object passphrase = own == null ? properties.get("passphrase-file") : own;
        if (passphrase == null) {
            throw new IllegalArgumentException(file + " lacks the property subjects-passphrase-file");
        }
        return SubjectKeys.open(
                file.resolveSibling(directory.toString()), passphrase(file.resolveSibling(passphrase.toString())));
    }

    /** Null if the policy names no key management service. */
    private static RoleKeySource roleKeys(Properties properties, Path file) throws IOException {
        boolean inVault = properties.containsKey("vault.address");
        boolean inAws = properties.containsKey("aws.region");
        if (inVault && inAws) {
            throw new IllegalArgumentException(
                    file + " has vault.address and aws.region; the keys of roles can be in one service only");
        }
        return inVault ? transit(properties, file) : inAws ? awsKms(properties, file) : null;
    }

    private static AwsKms awsKms(Properties properties, Path file) {
        AwsKms.Builder kms = AwsKms.builder(take(properties, file, "aws.region"))
                .roles(List.of(take(properties, file, "aws.roles").split("\\s*,\\s*")));
        if (properties.containsKey("aws.endpoint")) {
            kms.endpoint(URI.create(take(properties, file, "aws.endpoint")));
        }
        if (properties.containsKey("aws.alias-prefix")) {
            kms.aliasPrefix(take(properties, file, "aws.alias-prefix"));
        }
        if (properties.containsKey("aws.credentials-file")) {
            Path credentials = file.resolveSibling(take(properties, file, "aws.credentials-file"));
            kms.credentials(
                    credentials,
                    properties.containsKey("aws.profile")
                            ? take(properties, file, "aws.profile")
                            : AwsKms.DEFAULT_PROFILE);
        }
        return kms.build();
    }

    private static VaultTransit transit(Properties properties, Path file) throws IOException {
        VaultTransit.Builder transit = VaultTransit.builder(URI.create(take(properties, file, "vault.address")))
                .tokenFile(file.resolveSibling(take(properties, file, "vault.token-file")))
                .roles(List.of(take(properties, file, "vault.roles").split("\\s*,\\s*")));
        if (properties.containsKey("vault.mount")) {
            transit.mount(take(properties, file, "vault.mount"));
        }
        if (properties.containsKey("vault.namespace")) {
            transit.namespace(take(properties, file, "vault.namespace"));
        }
        if (properties.containsKey("vault.ca")) {
            transit.authorities(file.resolveSibling(take(properties, file, "vault.ca")));
        }
        return transit.build();
    }

    private static String take(Properties properties, Path file, String name) {
        Object value = properties.remove(name);
        if (value == null || value.toString().isBlank()) {
            throw new IllegalArgumentException(file + " lacks the property " + name);
        }
        return value.toString().strip();
    }

    /** Reads a passphrase from a file, without the line break at its end. */
    public static char[] passphrase(Path file) throws IOException {
        if (Files.size(file) > MAX_PASSPHRASE_FILE_BYTES) {
            throw new IOException(file + " is larger than " + MAX_PASSPHRASE_FILE_BYTES + " bytes");
        }
        String text;
        try {
            text = Files.readString(file).stripTrailing();
        } catch (CharacterCodingException malformed) {
            throw new IOException("the passphrase in " + file + " is not text in UTF-8", malformed);
        }
        if (text.isEmpty()) {
            throw new IOException("the passphrase in " + file + " is empty");
        }
        return text.toCharArray();
    }

    @Override
    public BatchSealer sealer(KeyLog keys) {
        if (sender == null) {
            throw new IllegalArgumentException("the policy names no sender, so that producers cannot use it");
        }
        RawKeyPair key = vault.sender(sender);
        if (key == null) {
            throw new IllegalArgumentException("the keyring has no key of sender " + sender);
        }
        return new ProducerSealer(this, keys, key);
    }

    @Override
    public BatchOpener opener(KeyLog keys) {
        return new ConsumerOpener(this, keys);
    }

    String realm() {
        return realm;
    }

    String sender() {
        return sender;
    }

    KeyVault vault() {
        return vault;
    }

    /**
     * The key of a generation of a role; null if this process does not have it.
     *
     * @throws IOException if it is in another process that cannot be asked now
     */
    RoleKey roleKey(String role, int generation) throws IOException {
        RoleKey own = vault.role(role, generation);
        return own != null || roleKeys == null ? own : roleKeys.find(role, generation);
    }

    Duration epochLifetime() {
        return epochLifetime;
    }

    /** Whether consumers refuse a batch if one before it is missing. */
    boolean refusesGaps() {
        return refusesGaps;
    }

    /** The keys of subjects; null if there are none. */
    SubjectKeys subjects() {
        return subjects;
    }

    ShreddedListener shreddedListener() {
        return shreddedListener;
    }

    /** The registry, read again when it is too old. One object for each client. */
    RegistryCache registry(KeyLog keys) {
        return new RegistryCache(realm, trust, keys, registryMaxAge);
    }

    /** The settings of a policy. Not thread-safe. */
    public static final class Builder {
        private static final Duration DEFAULT_EPOCH_LIFETIME = Duration.ofHours(24);
        private static final Duration DEFAULT_REGISTRY_MAX_AGE = Duration.ofMinutes(5);

        private String realm;
        private TrustPolicy trust;
        private KeyVault vault;
        private RoleKeySource roleKeys;
        private String sender;
        private Duration epochLifetime = DEFAULT_EPOCH_LIFETIME;
        private Duration registryMaxAge = DEFAULT_REGISTRY_MAX_AGE;
        private boolean refusesGaps;
        private SubjectKeys subjects;
        private ShreddedListener shreddedListener = (partition, offset) -> {};

        private Builder() {}

        /**
         * The name of the realm, which the registry must have as well. Batches of one realm cannot be opened in another,
         * even if topics have the same names. The names of clusters and the ids of topics come from the broker, and are
         * not trusted.
         */
        public Builder realm(String name) {
            this.realm = Registry.checkName("realm", name);
            return this;
        }

        /** Which root key is trusted. */
        public Builder trust(TrustPolicy policy) {
            this.trust = Objects.requireNonNull(policy, "trust");
            return this;
        }

        /** The private keys of this process. */
        public Builder vault(KeyVault keys) {
            this.vault = Objects.requireNonNull(keys, "vault");
            return this;
        }

        /** Keys of roles that are not in the vault, such as those of {@link VaultTransit} or {@link AwsKms}. Default none. */
        public Builder roleKeys(RoleKeySource source) {
            this.roleKeys = source;
            return this;
        }

        /** The name under which the registry knows this producer. Not needed by consumers. */
        public Builder sender(String name) {
            this.sender = Registry.checkName("sender", name);
            return this;
        }

        /** How long a producer uses an epoch. More than zero, default 24 h. */
        public Builder epochLifetime(Duration lifetime) {
            this.epochLifetime = positive(lifetime, "epochLifetime");
            return this;
        }

        /**
         * After which time clients read the registry again, and therefore how long a change of rights can take. More than
         * zero, default 5 min.
         */
        public Builder registryMaxAge(Duration age) {
            this.registryMaxAge = positive(age, "registryMaxAge");
            return this;
        }

        /**
         * Consumers refuse a batch if one that its sender sealed before it, with the same key and for the same partition,
         * was not there ({@link io.journalq.client.error.SealViolationException.Reason#MISSING_BATCHES}). By default,
         * they count such batches ({@link io.journalq.client.ConsumerMetrics#missingBatches}). Only for topics whose
         * producers use no transactions: batches of aborted ones, and batches that failed in spite of all retries, are
         * missing, too. Topics in record mode and in token mode are not concerned, because compaction removes records.
         */
        public Builder refuseGaps() {
            this.refusesGaps = true;
            return this;
        }

        /** The keys of subjects, for topics of mode {@link SealMode#SUBJECT}. Default none. */
        public Builder subjects(SubjectKeys keys) {
            this.subjects = keys;
            return this;
        }

        /** Who learns of records that consumers leave out, because the keys of their subjects were destroyed. */
        public Builder onShredded(ShreddedListener listener) {
            this.shreddedListener = Objects.requireNonNull(listener, "listener");
            return this;
        }

        private static Duration positive(Duration duration, String name) {
            if (duration.isNegative() || duration.isZero()) {
                throw new IllegalArgumentException(name + " must be more than zero");
            }
            return duration;
        }

        /** Creates the policy. */
        public SealPolicy build() {
            return new SealPolicy(this);
        }
    }
}
