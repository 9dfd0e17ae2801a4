package io.journalq.seal;

import io.journalq.client.error.SealingException;
import io.journalq.client.seal.BatchSealer;
import io.journalq.client.seal.KeyLog;
import io.journalq.common.id.TopicPartition;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import javax.crypto.spec.SecretKeySpec;

/**
 * Seals the batches of one producer. It has an epoch of its own for each topic, which begins when its key packet has been
 * acknowledged. Thread-safe.
 */
final class ProducerSealer implements BatchSealer {
    /** After this number of batches in one partition an epoch is replaced. AES-GCM allows 2^32. */
    private static final long MAX_NUMBER = 1L << 30;

    /** After this number of bytes an epoch is replaced. */
    private static final long MAX_SEALED_BYTES = 1L << 40;

    private static final int FRAME_BITS = 16;

    private final SealPolicy policy;
    private final KeyLog keys;
    private final RawKeyPair senderKey;
    private final RegistryCache registry;
    private final Map<String, Epoch> epochs = new ConcurrentHashMap<>();
    private final ReentrantLock renewal = new ReentrantLock();
    private final KeyEvents events = new KeyEvents();

    ProducerSealer(SealPolicy policy, KeyLog keys, RawKeyPair senderKey) {
        this.policy = policy;
        this.keys = keys;
        this.senderKey = senderKey;
        this.registry = policy.registry(keys);
    }

    /** The current epoch of a topic. Thread-safe. */
    private final class Epoch {
        private final EpochKeys secret;
        private final SealMode mode;
        /** Null unless batches are signed. */
        private final RawKeyPair signer;
        /** Null unless the mode is {@link SealMode#TOKEN}. */
        private final TokenKey tokens;
        /** Null unless the mode is {@link SealMode#SUBJECT}. */
        private final SubjectKeys subjects;

        private final long packetOffset;
        /** What the registry said about the readers when the epoch was made. */
        private final List<KeyPacket.Reader> readers;

        private final long endNanos;
        private final LongAdder sealedBytes = new LongAdder();
        private final Map<TopicPartition, AtomicLong> numbers = new ConcurrentHashMap<>();
        /** When the registry by which it was made or checked gets too old, whichever topic it was read for. */
        private volatile long checkNanos;

        private volatile boolean exhausted;

        private Epoch(EpochKeys secret, Registry.Topic topic, long packetOffset, List<KeyPacket.Reader> readers) {
            this.secret = secret;
            this.mode = topic.mode();
            this.signer = topic.isSigned() ? senderKey : null;
            this.tokens = mode == SealMode.TOKEN ? policy.vault().tokenKey(topic.name()) : null;
            this.subjects = mode == SealMode.SUBJECT ? policy.subjects() : null;
            this.packetOffset = packetOffset;
            this.readers = readers;
            this.endNanos = System.nanoTime() + policy.epochLifetime().toNanos();
            this.checkNanos = registry.endNanos();
        }

        private boolean isOver() {
            return exhausted || sealedBytes.sum() > MAX_SEALED_BYTES || System.nanoTime() - endNanos > 0;
        }

        private boolean isDue() {
            return isOver() || System.nanoTime() - checkNanos > 0;
        }

        private Place next(TopicPartition partition) {
            long number =
                    numbers.computeIfAbsent(partition, key -> new AtomicLong()).getAndIncrement();
            if (number >= MAX_NUMBER) {
                exhausted = true;
            }
            return batch -> seal(partition, number, batch);
        }

        private ByteBuf seal(TopicPartition partition, long number, ByteBuf batch) {
            try {
                SecretKeySpec key = secret.key(mode, policy.realm(), partition);
                Envelope envelope = new Envelope(mode, FRAME_BITS, secret.id(), packetOffset, number, 0);
                sealedBytes.add(batch.readableBytes());
                return mode == SealMode.BATCH
                        ? SealedBatch.seal(batch, envelope, key, signer, policy.realm(), partition)
                        : SealedRecords.seal(batch, envelope, key, tokens, subjects, policy.realm(), partition);
            } finally {
                batch.release();
            }
        }
    }

    @Override
    public void prepare(String topic) {
        Epoch epoch = epochs.get(topic);
        if (epoch != null && !epoch.isDue()) {
            return;
        }
        // Also if another thread is already checking: while it cannot read the registry, nobody knows who may read.
        long sinceNanos = System.nanoTime();
        renewal.lock();
        try {
            renew(topic, sinceNanos);
        } finally {
            renewal.unlock();
        }
    }

    private void renew(String topic, long sinceNanos) {
        Epoch epoch = epochs.get(topic);
        if (epoch != null && !epoch.isDue()) {
            return;
        }
        Registry rights = registry.current(sinceNanos);
        if (refusal(rights, topic) != null && registry.refreshed()) {
            rights = registry.current();
        }
        String refusal = refusal(rights, topic);
        if (refusal != null) {
            events.sendRefused(topic, policy.sender(), refusal);
            throw new SealingException(refusal, null);
        }
        events.sendAllowed(topic);
        Registry.Topic sealed = rights.topic(topic);
        List<KeyPacket.Reader> readers = new ArrayList<>();
        for (String name : sealed.roles()) {
            Registry.Role role = rights.role(name);
            readers.add(new KeyPacket.Reader(name, role.generation(), role.publicKey()));
        }
        boolean signingChanges = epoch != null && (epoch.signer != null) != sealed.isSigned();
        if (epoch == null || epoch.isOver() || signingChanges || !isSame(epoch.readers, readers)) {
            epochs.put(topic, begin(sealed, readers, cause(epoch, signingChanges)));
        } else {
            epoch.checkNanos = registry.endNanos();
        }
    }

    /** Why this producer may not send to a topic; null if it may. */
    private String refusal(Registry rights, String topic) {
        Registry.Topic sealed = rights.topic(topic);
        if (sealed == null || sealed.roles().isEmpty()) {
            return "nobody may read topic " + topic + " according to the registry; grant it to a role first";
        }
        Registry.Sender self = rights.sender(policy.sender());
        if (self == null || !self.maySend(topic)) {
            return "sender " + policy.sender() + " may not send to topic " + topic + " according to the registry";
        }
        if (!Arrays.equals(self.publicKey(), senderKey.publicKey())) {
            return "the registry has another key of sender " + policy.sender() + " than the keyring";
        }
        if (sealed.mode() == SealMode.SUBJECT && policy.subjects() == null) {
            return "the mode of topic " + topic + " is subject, and the policy names no keys of subjects (subjects)";
        }
        if (sealed.mode() == SealMode.TOKEN) {
            TokenKey tokens = policy.vault().tokenKey(topic);
            if (tokens == null) {
                return "the keyring has no key token/" + topic + ", which makes the tokens of the topic; copy it from"
                        + " another sender";
            }
            if (!HexFormat.of().formatHex(tokens.commitment(topic)).equals(sealed.tokens())) {
                return "the keyring has another key token/" + topic + " than the registry commits to";
            }
        }
        return null;
    }

    private static boolean isSame(List<KeyPacket.Reader> some, List<KeyPacket.Reader> others) {
        if (some.size() != others.size()) {
            return false;
        }
        for (int i = 0; i < some.size(); i++) {
            if (!some.get(i).role().equals(others.get(i).role())
                    || some.get(i).generation() != others.get(i).generation()) {
                return false;
            }
        }
        return true;
    }

    /** Publishes the key packet of a new epoch, and waits until it is acknowledged. */
    private Epoch begin(Registry.Topic topic, List<KeyPacket.Reader> readers, String cause) {
        EpochKeys secret = EpochKeys.random();
        long nowMs = System.currentTimeMillis();
        KeyPacket packet = KeyPacket.create(
                secret,
                nowMs,
                nowMs + policy.epochLifetime().toMillis(),
                policy.sender(),
                policy.realm(),
                topic.name(),
                topic.isSigned(),
                readers);
        long offset = keys.append(KeyPacket.TOPIC, EpochKeys.bytes(secret.id()), packet.sign(senderKey));
        KeyEvents.epochCreated(packet, topic.mode(), offset, cause);
        return new Epoch(secret, topic, offset, readers);
    }

    /** Why an epoch is replaced, for the log. */
    private static String cause(Epoch before, boolean signingChanges) {
        if (before == null) {
            return "start";
        }
        if (signingChanges) {
            return "signatures";
        }
        return !before.isOver() ? "readers" : before.exhausted ? "batches" : "lifetime-or-size";
    }

    @Override
    public Place place(TopicPartition partition) {
        Epoch epoch = epochs.get(partition.topic());
        if (epoch == null) {
            return batch -> {
                batch.release();
                throw new SealingException("the keys of topic " + partition.topic() + " were not prepared", null);
            };
        }
        return epoch.next(partition);
    }

    @Override
    public void close() {
        epochs.values().forEach(epoch -> epoch.secret.close());
        epochs.clear();
    }
}
