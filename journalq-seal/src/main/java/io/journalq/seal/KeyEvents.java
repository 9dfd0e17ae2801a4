package io.journalq.seal;

import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The log of what happens to keys, by the logger {@value #LOGGER}. A line is {@code event=NAME} and fields of the form
 * {@code name=value}. A value with other characters than those of names is quoted, so that text which a broker has sent
 * cannot imitate a line. No method takes a private key, a secret, or the text of a record. Thread-safe.
 *
 * <p>What a client repeats until the cause is gone is logged once, and again when the cause has changed.
 */
final class KeyEvents {
    static final String LOGGER = "io.journalq.seal";

    /** The maximum number of topics and partitions whose last refusal is remembered. */
    private static final int MAX_REMEMBERED = 10_000;

    private static final int MAX_VALUE_LENGTH = 512;
    private static final Pattern BARE = Pattern.compile("[A-Za-z0-9._/:,*+-]+");
    private static final System.Logger log = System.getLogger(LOGGER);

    /** The last refusal of each topic or partition of one client. */
    private final Map<Object, String> refusals = new ConcurrentHashMap<>();

    /** A line in the making. */
    private static final class Line {
        private final StringBuilder text = new StringBuilder(200);

        private Line(String event) {
            text.append("event=").append(event);
        }

        private Line with(String name, Object value) {
            String shown = String.valueOf(value);
            if (shown.length() > MAX_VALUE_LENGTH) {
                shown = shown.substring(0, MAX_VALUE_LENGTH);
            }
            text.append(' ').append(name).append('=');
            if (BARE.matcher(shown).matches()) {
                text.append(shown);
            } else {
                text.append('"');
                shown.chars().forEach(c -> {
                    if (c == '"' || c == '\\') {
                        text.append('\\').append((char) c);
                    } else if (c < ' ' || c > '~') {
                        text.append(String.format("\\u%04x", c));
                    } else {
                        text.append((char) c);
                    }
                });
                text.append('"');
            }
            return this;
        }

        private void info() {
            log.log(System.Logger.Level.INFO, text::toString);
        }

        private void warn() {
            log.log(System.Logger.Level.WARNING, text::toString);
        }
    }

    /** A producer has published the key packet of a new epoch. */
    static void epochCreated(KeyPacket packet, SealMode mode, long packetOffset, String cause) {
        new Line("epoch-created")
                .with("topic", packet.topic())
                .with("mode", mode)
                .with("epoch", packet.epoch())
                .with("packet-offset", packetOffset)
                .with("sender", packet.sender())
                .with("roles", roles(packet))
                .with("not-after-ms", packet.notAfterMs())
                .with("cause", cause)
                .info();
    }

    /** A consumer can open the batches of an epoch. */
    static void epochOpened(KeyPacket packet, long packetOffset, KeyPacket.Recipient recipient) {
        new Line("epoch-opened")
                .with("topic", packet.topic())
                .with("epoch", packet.epoch())
                .with("packet-offset", packetOffset)
                .with("sender", packet.sender())
                .with("role", recipient.role() + "/" + recipient.generation())
                .info();
    }

    private static String roles(KeyPacket packet) {
        return packet.recipients().stream()
                .map(recipient -> recipient.role() + "/" + recipient.generation())
                .collect(Collectors.joining(","));
    }

    /** A key was made or added to a keyring. */
    static void keyAdded(String name) {
        new Line("key-added").with("key", name).info();
    }

    /** A key was removed from a keyring. */
    static void keyDestroyed(String name) {
        new Line("key-destroyed").with("key", name).info();
    }

    /** The key of a subject was destroyed. */
    static void subjectShredded(String topic) {
        new Line("subject-shredded").with("topic", topic).info();
    }

    /** A consumer leaves out records, because the keys of their subjects were destroyed. */
    static void recordsShredded(TopicPartition partition, long firstOffset, int count) {
        new Line("records-shredded")
                .with("topic", partition.topic())
                .with("partition", partition.partition())
                .with("offset", firstOffset)
                .with("records", count)
                .info();
    }

    /** An administrator has published a version of the registry. */
    static void registryPublished(Registry before, Registry after) {
        new Line("registry-published")
                .with("realm", after.realm())
                .with("version", after.version())
                .info();
        for (Registry.Sender sender : after.senders()) {
            Registry.Sender known = before == null ? null : before.sender(sender.name());
            if (sender.revokedFrom() >= 0 && (known == null || known.revokedFrom() != sender.revokedFrom())) {
                new Line("sender-revoked")
                        .with("sender", sender.name())
                        .with("packet-offset", sender.revokedFrom())
                        .with("version", after.version())
                        .info();
            } else if (!isSame(known, sender)) {
                new Line("sender-registered")
                        .with("sender", sender.name())
                        .with("topics", String.join(",", sender.topics()))
                        .with("version", after.version())
                        .info();
            }
        }
        for (Registry.Role role : after.roles()) {
            Registry.Role known = before == null ? null : before.role(role.name());
            if (known == null || known.generation() != role.generation()) {
                new Line(known == null ? "role-registered" : "role-rotated")
                        .with("role", role.name())
                        .with("generation", role.generation())
                        .with("version", after.version())
                        .info();
            }
        }
        for (Registry.Topic topic : after.topics()) {
            Registry.Topic known = before == null ? null : before.topic(topic.name());
            List<String> rolesBefore = known == null ? List.of() : known.roles();
            if (topic.isSigned() != (known != null && known.isSigned())) {
                new Line(topic.isSigned() ? "signatures-required" : "signatures-ended")
                        .with("topic", topic.name())
                        .with("version", after.version())
                        .info();
            }
            right("role-granted", topic, topic.roles(), rolesBefore, after);
            right("role-revoked", topic, rolesBefore, topic.roles(), after);
        }
    }

    private static boolean isSame(Registry.Sender known, Registry.Sender now) {
        return known != null
                && known.revokedFrom() == now.revokedFrom()
                && known.topics().equals(now.topics())
                && Arrays.equals(known.publicKey(), now.publicKey());
    }

    private static void right(
            String event, Registry.Topic topic, List<String> roles, List<String> without, Registry registry) {
        for (String role : roles) {
            if (!without.contains(role)) {
                new Line(event)
                        .with("topic", topic.name())
                        .with("mode", topic.mode())
                        .with("role", role)
                        .with("version", registry.version())
                        .info();
            }
        }
    }

    /** A client has seen a newer registry than before. */
    static void registryAccepted(Registry registry, String rootFingerprint) {
        new Line("registry-accepted")
                .with("realm", registry.realm())
                .with("version", registry.version())
                .with("root", rootFingerprint)
                .info();
    }

    /** A client has refused the registry of the broker. */
    static void registryRefused(long version, long newestVersion) {
        new Line("registry-refused")
                .with("version", version)
                .with("newest-version", newestVersion)
                .with("reason", "a newer version has been seen before")
                .warn();
    }

    /** A producer may not send to a topic, so that nothing is sent. */
    void sendRefused(String topic, String sender, String reason) {
        if (isNew(topic, reason)) {
            new Line("send-refused")
                    .with("topic", topic)
                    .with("sender", sender)
                    .with("reason", reason)
                    .warn();
        }
    }

    /** A producer may send to a topic. */
    void sendAllowed(String topic) {
        refusals.remove(topic);
    }

    /**
     * A key packet gives this consumer no key.
     *
     * @param epoch the epoch that a batch has named
     */
    void keyRefused(String topic, Uuid epoch, long packetOffset, Reason reason, String message) {
        if (isNew(epoch, reason + message)) {
            new Line("key-refused")
                    .with("topic", topic)
                    .with("epoch", epoch)
                    .with("packet-offset", packetOffset)
                    .with("code", reason)
                    .with("reason", message)
                    .warn();
        }
    }

    /** The key of an epoch cannot be asked for now, so that nothing is returned. */
    void keyUnavailable(String topic, Uuid epoch, long packetOffset, String message) {
        if (isNew(epoch, message)) {
            new Line("key-unavailable")
                    .with("topic", topic)
                    .with("epoch", epoch)
                    .with("packet-offset", packetOffset)
                    .with("reason", message)
                    .warn();
        }
    }

    /** A consumer does not return a batch. */
    void batchRefused(TopicPartition partition, long offset, Reason reason, String message) {
        if (isNew(partition, offset + message)) {
            new Line("batch-refused")
                    .with("topic", partition.topic())
                    .with("partition", partition.partition())
                    .with("offset", offset)
                    .with("code", reason)
                    .with("reason", message)
                    .warn();
        }
    }

    private boolean isNew(Object subject, String refusal) {
        if (refusals.size() >= MAX_REMEMBERED) {
            refusals.clear();
        }
        return !Objects.equals(refusals.put(subject, refusal), refusal);
    }
}
