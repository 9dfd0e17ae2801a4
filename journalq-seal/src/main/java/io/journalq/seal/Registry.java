package io.journalq.seal;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
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
    private static final int LINE_LIMIT = 8;

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
     * @param publicKey the X25519 key of the newest generation
     */
    @SuppressWarnings("ArrayRecordComponent") // nobody changes the arrays or compares the record
    public record Role(String name, int generation, byte[] publicKey) {}

    /** A sealed topic, with the roles that may read what is sent from now on. */
    public record Topic(String name, SealMode mode, List<String> roles) {}

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

    /** Adds or replaces a sender. */
    public Registry withSender(String name, byte[] publicKey, List<String> sendsTo) {
        checkName("sender", name);
        sendsTo.stream().filter(topic -> !topic.equals(ALL_TOPICS)).forEach(topic -> checkName("topic", topic));
        return next(map -> map.senders.put(name, new Sender(name, checkKey(publicKey), List.copyOf(sendsTo), -1)));
    }

    /** Revokes a sender: its key packets from this offset on are refused, and it makes no more. */
    public Registry withoutSender(String name, long fromPacketOffset) {
        Sender known = require(senders.get(name), "sender", name);
        return next(map -> map.senders.put(name, new Sender(name, known.publicKey, known.topics, fromPacketOffset)));
    }

    /** Adds a role, or replaces its key by one of a higher generation. */
    public Registry withRole(String name, int generation, byte[] publicKey) {
        checkName("role", name);
        Role known = roles.get(name);
        int expected = known == null ? 1 : known.generation + 1;
        if (generation != expected) {
            throw new IllegalArgumentException("the next generation of role " + name + " is " + expected);
        }
        return next(map -> map.roles.put(name, new Role(name, generation, checkKey(publicKey))));
    }

    /** Makes a topic sealed, or sets the roles that may read it. Without roles, nobody can send to it. */
    public Registry withTopic(String name, SealMode mode, List<String> readers) {
        checkName("topic", name);
        Topic known = topics.get(name);
        if (known != null && known.mode != mode) {
            throw new IllegalArgumentException("the mode of topic " + name + " is " + known.mode
                    + " and cannot change, because its records are sealed that way");
        }
        if (readers.size() > KeyPacket.MAX_RECIPIENTS) {
            throw new IllegalArgumentException("a topic can have " + KeyPacket.MAX_RECIPIENTS + " roles");
        }
        readers.forEach(role -> require(roles.get(role), "role", role));
        return next(map -> map.topics.put(name, new Topic(name, mode, List.copyOf(readers))));
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

    /** The fingerprint of a root key, by which it is pinned: its SHA-256 as 64 hexadecimal digits. */
    public static String fingerprint(byte[] rootPublicKey) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(rootPublicKey));
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException(missing);
        }
    }

    /** The record that contains this version. */
    byte[] sign(RawKeyPair root) {
        byte[] text = toString().getBytes(UTF_8);
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

    /** Reads the value of a record; null if it is not a registry with a valid signature. */
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
            return RawKeyPair.verify(root, signature, SIGNATURE_LABEL, text)
                    ? new Signed(parse(new String(text, UTF_8)), fingerprint(root))
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
                case "role4" -> roles.put(words[1], new Role(words[1], Integer.parseInt(words[2]), key(words[3])));
                case "topic4" ->
                    topics.put(
                            words[1],
                            new Topic(words[1], SealMode.valueOf(words[2].toUpperCase(Locale.ROOT)), list(words[3])));
                case "1" -> {}
                default -> throw new IllegalArgumentException("an unknown line: " + words[0]);
            }
        }
        if (version < 1 || realm == null) {
            throw new IllegalArgumentException("no version or realm");
        }
        return new Registry(version, realm, senders, roles, topics);
    }

    private static byte[] key(String text) {
        return checkKey(Base64.getDecoder().decode(text));
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
                        + (sender.revokedFrom < 0 ? "" : " revoked " + sender.revokedFrom)));
        roles.values()
                .forEach(role -> lines.add(
                        "role " + role.name + " " + role.generation + " " + base64.encodeToString(role.publicKey)));
        topics.values().forEach(topic -> lines.add("topic " + topic.name + " " + topic.mode + " " + list(topic.roles)));
        return String.join("\n", lines) + "\n";
    }
}
