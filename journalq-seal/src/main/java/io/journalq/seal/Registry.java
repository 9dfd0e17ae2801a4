package io.journalq.seal;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Who may send to which topics, and which roles may read them. One document, signed by the root key, with a version that
 * only rises. Immutable: each change returns the next version.
 *
 * <p>The signed text has one line for each fact, in this order:
 *
 * <pre>
 * version 7
 * realm production
 * sender billing KEY orders,invoices
 * sender old KEY * revoked 1024
 * role readers 1 KEY
 * topic orders batch readers,audit
 * topic payments batch readers signed
 * topic customers token readers COMMITMENT
 * </pre>
 */
public final class Registry {
    /** The compacted topic of the registry. */
    public static final String TOPIC = "jqe1.registry";

    static final byte[] RECORD_KEY = "registry".getBytes(US_ASCII);
    /** The sender may send to all topics. */
    static final String ALL_TOPICS = "*";

    private static final int MAX_SIZE_BYTES = 1024 * 1024;
    private static final byte[] MAGIC = "JQR1".getBytes(US_ASCII);
    private static final byte[] SIGNATURE_LABEL = "JQE1 registry\0".getBytes(US_ASCII);
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,249}");
    private static final String SIGNED = "signed";
    private static final int LINE_LIMIT = 8;
    private static final String REVOKED = " revoked ";
    /** The most digits of a version or an offset. */
    private static final int NUMBER_DIGITS = 19;

    /** Most bytes of the batch around the record, which the limits of a producer and of a topic include. */
    private static final int BATCH_BYTES = 128;

    private final long version;
    private final String realm;
    private final SortedMap<String, Sender> senders;
    private final SortedMap<String, Role> roles;
    private final SortedMap<String, Topic> topics;

    /**
     * A producer that may send.
     *
     * @param publicKey its Ed25519 key
     * @param topics the topics to which it may send; {@code *} stands for all
     * @param revokedFrom the offset in {@code jqe1.keys} from which its key packets are refused, or -1 if it is not
     *     revoked
     */
    @SuppressWarnings("ArrayRecordComponent") // nobody changes the arrays or compares the record
    public record Sender(String name, byte[] publicKey, List<String> topics, long revokedFrom) {
        /** Whether the sender may make new epochs for a topic. */
        boolean maySend(String topic) {
            return revokedFrom < 0 && isFor(topic);
        }

        /** Whether a key packet of this sender at this offset is valid for the topic. */
        boolean mayHaveSent(String topic, long packetOffset) {
            return (revokedFrom < 0 || packetOffset < revokedFrom) && isFor(topic);
        }

        private boolean isFor(String topic) {
            return topics.contains(ALL_TOPICS) || topics.contains(topic);
        }
    }

    /**
     * Consumers that share a key.
     *
     * @param generation counted from 1; a higher one replaces those before it
     * @param publicKey the key of the newest generation, as {@link RoleKey#publicKey()}
     */
    @SuppressWarnings("ArrayRecordComponent") // nobody changes the arrays or compares the record
    public record Role(String name, int generation, byte[] publicKey) {}

    /**
     * A sealed topic, with the roles that may read what is sent from now on.
     *
     * @param tokens the commitment to the key of tokens ({@link TokenKey#commitment}) in hexadecimal digits; null if the
     *     mode is not {@link SealMode#TOKEN}
     * @param isSigned whether senders sign each batch, so that readers cannot make any
     */
    public record Topic(String name, SealMode mode, List<String> roles, String tokens, boolean isSigned) {}

    private Registry(
            long version,
            String realm,
            Map<String, Sender> senders,
            Map<String, Role> roles,
            Map<String, Topic> topics) {
        this.version = version;
        this.realm = realm;
        this.senders = new TreeMap<>(senders);
        this.roles = new TreeMap<>(roles);
        this.topics = new TreeMap<>(topics);
    }

    /** The first version, without senders, roles and topics. */
    public static Registry create(String realm) {
        return new Registry(1, checkName("realm", realm), Map.of(), Map.of(), Map.of());
    }

    public long version() {
        return version;
    }

    /** The name that is part of every key, so that batches of one realm cannot be moved to another. */
    public String realm() {
        return realm;
    }

    public List<Sender> senders() {
        return List.copyOf(senders.values());
    }

    public List<Role> roles() {
        return List.copyOf(roles.values());
    }

    public List<Topic> topics() {
        return List.copyOf(topics.values());
    }

    /** Returns a sender, or null if it is not known. */
    public Sender sender(String name) {
        return senders.get(name);
    }

    /** Returns a role, or null if it is not known. */
    public Role role(String name) {
        return roles.get(name);
    }

    /** Returns a sealed topic, or null if the topic is not sealed. */
    public Topic topic(String name) {
        return topics.get(name);
    }

    /**
     * Adds a sender, or changes to which topics it may send.
     *
     * @throws IllegalArgumentException if it was revoked, or has another key: consumers check by this entry what it has
     *     sent before, so that a new sender needs a name of its own
     */
    public Registry withSender(String name, byte[] publicKey, List<String> sendsTo) {
        checkName("sender", name);
        sendsTo.stream().filter(topic -> !topic.equals(ALL_TOPICS)).forEach(topic -> checkName("topic", topic));
        Sender known = senders.get(name);
        if (known != null && known.revokedFrom >= 0) {
            throw new IllegalArgumentException("sender " + name + " was revoked, and stays so, because what it has"
                    + " sent since would be valid otherwise; register a sender with another name");
        }
        if (known != null && !Arrays.equals(known.publicKey, publicKey)) {
            throw new IllegalArgumentException("sender " + name + " has another key, without which nobody could read"
                    + " what it has sent; register a sender with another name");
        }
        return next(map -> map.senders.put(name, new Sender(name, checkKey(publicKey), List.copyOf(sendsTo), -1)));
    }

    /**
     * Revokes a sender: its key packets from this offset on are refused, and it makes no more. A sender that was revoked
     * from a lower offset on stays revoked from there.
     */
    public Registry withoutSender(String name, long fromPacketOffset) {
        Sender known = require(senders.get(name), "sender", name);
        long from = known.revokedFrom < 0 ? fromPacketOffset : Math.min(known.revokedFrom, fromPacketOffset);
        return next(map -> map.senders.put(name, new Sender(name, known.publicKey, known.topics, from)));
    }

    /**
     * Adds a role, or replaces its key by one of a higher generation.
     *
     * @param publicKey as {@link RoleKey#publicKey()}
     * @throws IllegalArgumentException if the key is malformed or weak, or the generation is not the next
     */
    public Registry withRole(String name, int generation, byte[] publicKey) {
        checkName("role", name);
        Role known = roles.get(name);
        int expected = known == null ? 1 : known.generation + 1;
        if (generation != expected) {
            throw new IllegalArgumentException("the next generation of role " + name + " is " + expected);
        }
        return next(map -> map.roles.put(name, new Role(name, generation, checkRoleKey(publicKey))));
    }

    /**
     * Makes a topic sealed, or sets the roles that may read it. Without roles, nobody can send to it. A topic becomes one of
     * mode {@link SealMode#TOKEN} by {@link #withTokenTopic}.
     */
    public Registry withTopic(String name, SealMode mode, List<String> readers) {
        Topic known = topics.get(name);
        return withTopic(name, mode, readers, known == null ? null : known.tokens);
    }

    /**
     * Makes a topic one of mode {@link SealMode#TOKEN}.
     *
     * @param commitment of the key that all senders have
     */
    public Registry withTokenTopic(String name, List<String> readers, byte[] commitment) {
        String tokens = HexFormat.of().formatHex(commitment);
        Topic known = topics.get(name);
        if (known != null && known.tokens != null && !known.tokens.equals(tokens)) {
            throw new IllegalArgumentException("the key of the tokens of topic " + name
                    + " cannot change, because compaction would keep the records of both");
        }
        return withTopic(name, SealMode.TOKEN, readers, tokens);
    }

    private Registry withTopic(String name, SealMode mode, List<String> readers, String tokens) {
        checkName("topic", name);
        Topic known = topics.get(name);
        if ((mode == SealMode.TOKEN) != (tokens != null) && (known == null || known.mode == mode)) {
            throw new IllegalArgumentException("a topic of mode token needs a key of tokens");
        }
        if (known != null && known.mode != mode) {
            throw new IllegalArgumentException("the mode of topic " + name + " is " + known.mode
                    + " and cannot change, because its records are sealed that way");
        }
        checkReaders(readers);
        boolean isSigned = known != null && known.isSigned;
        return next(map -> map.topics.put(name, new Topic(name, mode, List.copyOf(readers), tokens, isSigned)));
    }

    /**
     * Sets whether senders sign each batch of a topic with their own keys. Without signatures, a reader that works together
     * with the broker can make batches. Batches of epochs that have begun before stay valid. Only for mode {@link
     * SealMode#BATCH}, because compaction would remove single records of a signed batch.
     */
    public Registry withSignatures(String topic, boolean isSigned) {
        Topic known = require(topics.get(topic), "sealed topic", topic);
        if (isSigned && known.mode != SealMode.BATCH) {
            throw new IllegalArgumentException("the mode of topic " + topic + " is " + known.mode
                    + ", and only topics of mode batch can have signed batches");
        }
        return next(map -> map.topics.put(topic, new Topic(topic, known.mode, known.roles, known.tokens, isSigned)));
    }

    private Registry next(Consumer<Registry> change) {
        Registry next = new Registry(version + 1, realm, senders, roles, topics);
        change.accept(next);
        return next;
    }

    private static <T> T require(T known, String what, String name) {
        if (known == null) {
            throw new IllegalArgumentException("there is no " + what + " " + name);
        }
        return known;
    }

    static String checkName(String what, String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("the name of a " + what + " has 1 to 249 letters, digits, dots, hyphens"
                    + " and underscores: " + name);
        }
        return name;
    }

    private static byte[] checkKey(byte[] publicKey) {
        if (publicKey.length != RawKeyPair.KEY_SIZE_BYTES) {
            throw new IllegalArgumentException("a public key has " + RawKeyPair.KEY_SIZE_BYTES + " bytes");
        }
        return publicKey.clone();
    }

    private static byte[] checkRoleKey(byte[] publicKey) {
        if (RsaRoleKey.isRsa(publicKey)) {
            RsaRoleKey.checked(publicKey);
        }
        return publicKey.clone();
    }

    /** The fingerprint of a root key, by which it is pinned: its SHA-256 as 64 hexadecimal digits. */
    public static String fingerprint(byte[] rootPublicKey) {
        return HexFormat.of().formatHex(Hkdf.sha256(rootPublicKey));
    }

    /**
     * The record that contains this version.
     *
     * @throws IllegalArgumentException if clients would refuse it, because it is too large
     */
    byte[] sign(RawKeyPair root) {
        byte[] value = sign(root, toString().getBytes(UTF_8));
        if (value.length > MAX_SIZE_BYTES) {
            throw new IllegalArgumentException("the registry would have " + value.length + " bytes, and clients accept "
                    + MAX_SIZE_BYTES + "; name fewer topics for each sender, or use another realm for a part of them");
        }
        return value;
    }

    /**
     * The record that contains this version, which follows another one. It has room to revoke each sender and to
     * replace the key of each role: no registry may be too full for that.
     *
     * @throws IllegalArgumentException if it has no room, unless the version before it already needs as much
     */
    byte[] signAfter(Registry before, RawKeyPair root) {
        byte[] value = sign(root);
        int neededBytes = value.length + growthBytes();
        if (neededBytes > MAX_SIZE_BYTES && neededBytes > before.sign(root).length + before.growthBytes()) {
            throw new IllegalArgumentException("the registry would have " + value.length + " bytes, and "
                    + growthBytes() + " more if all senders are revoked, and clients accept " + MAX_SIZE_BYTES
                    + "; name fewer topics for each sender, or use another realm for a part of them");
        }
        return value;
    }

    /**
     * By how much the revocation of all senders and new keys of all roles make the record larger, with what is around
     * it in a topic.
     */
    private int growthBytes() {
        long left = senders.values().stream()
                .filter(sender -> sender.revokedFrom < 0)
                .count();
        int generations = roles.values().stream()
                .mapToInt(role -> NUMBER_DIGITS - digits(role.generation))
                .sum();
        return Math.toIntExact(left * (REVOKED.length() + NUMBER_DIGITS))
                + NUMBER_DIGITS
                - digits(version)
                + generations
                + BATCH_BYTES;
    }

    private static int digits(long number) {
        return Long.toString(number).length();
    }

    /** A record that contains a text, whether or not it is a registry. */
    static byte[] sign(RawKeyPair root, byte[] text) {
        return new FieldWriter()
                .bytes(MAGIC)
                .bytes(root.publicKey())
                .bytes(root.sign(SIGNATURE_LABEL, text))
                .bytes(text)
                .done();
    }

    /**
     * A version whose signature is valid, and the key that signed it. Whether that key is trusted is not checked here.
     */
    record Signed(Registry registry, String rootFingerprint) {}

    /**
     * Reads the value of a record; null if it is not a registry with a valid signature. Only the text that {@link #toString}
     * writes is a registry: no line can come twice, or be left out.
     */
    static Signed decode(byte[] value) {
        if (value == null || value.length > MAX_SIZE_BYTES) {
            return null;
        }
        try {
            FieldReader in = new FieldReader(value);
            in.expect(MAGIC, "a registry");
            byte[] root = in.bytes(RawKeyPair.KEY_SIZE_BYTES);
            byte[] signature = in.bytes(RawKeyPair.SIGNATURE_SIZE_BYTES);
            byte[] text = in.bytes(in.leftBytes());
            if (!RawKeyPair.verify(root, signature, SIGNATURE_LABEL, text)) {
                return null;
            }
            Registry registry = parse(new String(text, UTF_8));
            return Arrays.equals(registry.toString().getBytes(UTF_8), text)
                    ? new Signed(registry, fingerprint(root))
                    : null;
        } catch (SealFault | IllegalArgumentException malformed) {
            return null;
        }
    }

    /** Reads the text form. */
    private static Registry parse(String text) {
        long version = -1;
        String realm = null;
        Map<String, Sender> senders = new TreeMap<>();
        Map<String, Role> roles = new TreeMap<>();
        Map<String, Topic> topics = new TreeMap<>();
        for (String line : text.split("\n", -1)) {
            String[] words = line.split(" ", LINE_LIMIT);
            switch (words[0] + words.length) {
                case "version2" -> version = Long.parseLong(words[1]);
                case "realm2" -> realm = checkName("realm", words[1]);
                case "sender4" -> senders.put(words[1], new Sender(words[1], key(words[2]), list(words[3]), -1));
                case "sender6" ->
                    senders.put(
                            words[1], new Sender(words[1], key(words[2]), list(words[3]), Long.parseLong(words[5])));
                case "role4" ->
                    roles.put(
                            words[1], new Role(words[1], Integer.parseInt(words[2]), checkRoleKey(decoded(words[3]))));
                case "topic4" -> topics.put(words[1], topic(words, null));
                case "topic5" -> topics.put(words[1], topic(words, words[4]));
                case "1" -> {}
                default -> throw new IllegalArgumentException("an unknown line: " + words[0]);
            }
        }
        if (version < 1 || realm == null) {
            throw new IllegalArgumentException("no version or realm");
        }
        Registry registry = new Registry(version, realm, senders, roles, topics);
        registry.check();
        return registry;
    }

    /** @throws IllegalArgumentException if no sequence of changes leads to this version */
    private void check() {
        for (Sender sender : senders.values()) {
            checkName("sender", sender.name);
            sender.topics.stream()
                    .filter(topic -> !topic.equals(ALL_TOPICS))
                    .forEach(topic -> checkName("topic", topic));
        }
        for (Role role : roles.values()) {
            checkName("role", role.name);
            if (role.generation < 1) {
                throw new IllegalArgumentException("role " + role.name + " of generation " + role.generation);
            }
        }
        for (Topic topic : topics.values()) {
            checkName("topic", topic.name);
            checkReaders(topic.roles);
        }
    }

    private void checkReaders(List<String> readers) {
        if (readers.size() > KeyPacket.MAX_RECIPIENTS) {
            throw new IllegalArgumentException("a topic can have " + KeyPacket.MAX_RECIPIENTS + " roles");
        }
        readers.forEach(role -> require(roles.get(role), "role", role));
    }

    private static Topic topic(String[] words, String last) {
        SealMode mode = SealMode.valueOf(words[2].toUpperCase(Locale.ROOT));
        boolean isSigned = mode == SealMode.BATCH && SIGNED.equals(last);
        if (!isSigned && (mode == SealMode.TOKEN) != (last != null)) {
            throw new IllegalArgumentException("a topic of mode " + mode + " with or without tokens");
        }
        return new Topic(words[1], mode, list(words[3]), isSigned ? null : last, isSigned);
    }

    private static byte[] key(String text) {
        return checkKey(decoded(text));
    }

    private static byte[] decoded(String text) {
        return Base64.getDecoder().decode(text);
    }

    private static List<String> list(String text) {
        return text.equals("-") ? List.of() : Arrays.asList(text.split(",", -1));
    }

    private static String list(List<String> names) {
        return names.isEmpty() ? "-" : String.join(",", names);
    }

    /** The text that is signed. */
    @Override
    public String toString() {
        List<String> lines = new ArrayList<>();
        lines.add("version " + version);
        lines.add("realm " + realm);
        Base64.Encoder base64 = Base64.getEncoder();
        senders.values()
                .forEach(sender -> lines.add("sender " + sender.name + " " + base64.encodeToString(sender.publicKey)
                        + " " + list(sender.topics)
                        + (sender.revokedFrom < 0 ? "" : REVOKED + sender.revokedFrom)));
        roles.values()
                .forEach(role -> lines.add(
                        "role " + role.name + " " + role.generation + " " + base64.encodeToString(role.publicKey)));
        topics.values()
                .forEach(topic -> lines.add("topic " + topic.name + " " + topic.mode + " " + list(topic.roles)
                        + (topic.tokens == null ? "" : " " + topic.tokens)
                        + (topic.isSigned ? " " + SIGNED : "")));
        return String.join("\n", lines) + "\n";
    }
}
