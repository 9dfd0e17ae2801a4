package io.journalq.seal;

import io.journalq.client.error.SealViolationException;
import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.client.error.SealingException;
import io.journalq.client.seal.BatchOpener;
import io.journalq.client.seal.KeyLog;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.spec.SecretKeySpec;

/** Opens the batches of one consumer. Belongs to its thread. */
final class ConsumerOpener implements BatchOpener {
    /** The maximum number of epochs whose keys are kept; the least recently used is read again. */
    private static final int MAX_EPOCHS = 1_024;

    private final SealPolicy policy;
    private final KeyLog keys;
    private final RegistryCache registry;
    private final OrderGuard guard;
    private final KeyEvents events = new KeyEvents();
    private final BatchReader reader =
            new BatchReader(ByteBufAllocator.DEFAULT, BatchReader.DEFAULT_MAX_DECOMPRESSED_SIZE_BYTES, false);
    private final Map<Uuid, OpenEpoch> epochs = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Uuid, OpenEpoch> eldest) {
            if (size() <= MAX_EPOCHS) {
                return false;
            }
            eldest.getValue().secret.close();
            return true;
        }
    };
    private long registryVersion;

    /**
     * An epoch whose key packet has been checked.
     *
     * @param signer the public key of the sender if it signs its batches, otherwise null
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record OpenEpoch(EpochKeys secret, String topic, long packetOffset, byte[] signer) {}

    ConsumerOpener(SealPolicy policy, KeyLog keys) {
        this.policy = policy;
        this.keys = keys;
        this.registry = policy.registry(keys);
        this.guard = new OrderGuard(policy.refusesGaps());
    }

    @Override
    public void start(TopicPartition partition, long offset, String state) {
        guard.start(partition, offset, state);
    }

    @Override
    public void truncate(TopicPartition partition, long offset) {
        guard.truncate(partition, offset);
    }

    @Override
    public void stop(TopicPartition partition) {
        guard.stop(partition);
    }

    @Override
    public String state(TopicPartition partition) {
        return guard.state(partition);
    }

    @Override
    public long missingBatches() {
        return guard.missing();
    }

    @Override
    public void open(TopicPartition partition, ByteBuf batches, int index, ByteBuf out) {
        long baseOffset = RecordBatch.baseOffset(batches, index);
        int before = out.writerIndex();
        boolean opened = false;
        List<Long> shredded = new ArrayList<>(0);
        try {
            Envelope envelope = openBatch(partition, batches, index, out, shredded);
            if (envelope != null) {
                guard.check(
                        partition,
                        envelope.epoch(),
                        envelope.number(),
                        baseOffset,
                        RecordBatch.nextOffset(batches, index),
                        envelope.mode() != SealMode.BATCH);
            }
            report(partition, shredded);
            opened = true;
        } catch (SealFault fault) {
            events.batchRefused(partition, baseOffset, fault.reason(), fault.getMessage());
            throw new SealViolationException(
                    partition, baseOffset, fault.reason(), fault.getMessage(), fault.getCause());
        } catch (InvalidBatchException invalid) {
            events.batchRefused(partition, baseOffset, Reason.MALFORMED, invalid.getMessage());
            throw new SealViolationException(partition, baseOffset, Reason.MALFORMED, invalid.getMessage(), invalid);
        } finally {
            reader.close();
            if (!opened) {
                out.writerIndex(before);
            }
        }
    }

    private void report(TopicPartition partition, List<Long> shredded) {
        if (!shredded.isEmpty()) {
            KeyEvents.recordsShredded(partition, shredded.get(0), shredded.size());
            shredded.forEach(offset -> policy.shreddedListener().onShredded(partition, offset));
        }
    }

    /** The keys for the records of one batch. */
    private SealedRecords.Keys keysFor(TopicPartition partition) {
        return new SealedRecords.Keys() {
            @Override
            public SecretKeySpec key(Envelope envelope) {
                return origin(envelope, partition).key();
            }

            @Override
            public SubjectKeys subjects() {
                return policy.subjects();
            }
        };
    }

    /** Returns the envelope; null if the batch has only tombstones. */
    private Envelope openBatch(TopicPartition partition, ByteBuf batches, int index, ByteBuf out, List<Long> shredded) {
        SealMode mode = mode(partition.topic());
        int sizeBytes = RecordBatch.sizeBytes(batches, index);
        ByteBuf batch = batches.slice(index, sizeBytes);
        reader.reset(batch);
        if (!reader.nextBatch()) {
            throw new SealFault(Reason.MALFORMED, "it is not complete");
        }
        if (mode != SealMode.BATCH) {
            return SealedRecords.open(
                    reader, mode, keysFor(partition), policy.realm(), partition, batch, 0, out, shredded);
        }
        byte[] value = reader.next() ? SealedBatch.find(reader.headers()) : null;
        if (value == null) {
            throw new SealFault(Reason.PLAIN_BATCH, "it is not sealed");
        }
        Envelope envelope = Envelope.decode(value);
        if (envelope.mode() != SealMode.BATCH || envelope.index() != 0) {
            throw new SealFault(Reason.MALFORMED, "it is sealed in another mode than the registry states");
        }
        SealedBatch.open(value, envelope, origin(envelope, partition), policy.realm(), partition, batch, 0, out);
        return envelope;
    }

    private SealMode mode(String topic) {
        Registry.Topic sealed = rights().topic(topic);
        if (sealed == null && registry.refreshed()) {
            sealed = rights().topic(topic);
        }
        if (sealed == null) {
            throw new SealFault(Reason.UNKNOWN_SENDER, "the registry does not know topic " + topic);
        }
        return sealed.mode();
    }

    /** The registry. When it changes, all key packets are checked again. */
    private Registry rights() {
        Registry current = registry.current();
        if (current.version() != registryVersion) {
            registryVersion = current.version();
            forgetKeys();
        }
        return current;
    }

    private void forgetKeys() {
        epochs.values().forEach(epoch -> epoch.secret.close());
        epochs.clear();
    }

    private SealedBatch.Origin origin(Envelope envelope, TopicPartition partition) {
        OpenEpoch epoch = epochs.get(envelope.epoch());
        if (epoch == null) {
            try {
                epoch = readEpoch(envelope, partition.topic());
            } catch (SealingException unavailable) {
                events.keyUnavailable(
                        partition.topic(), envelope.epoch(), envelope.packetOffset(), unavailable.getMessage());
                throw unavailable;
            } catch (SealFault fault) {
                events.keyRefused(
                        partition.topic(),
                        envelope.epoch(),
                        envelope.packetOffset(),
                        fault.reason(),
                        fault.getMessage());
                throw fault;
            }
            epochs.put(envelope.epoch(), epoch);
        }
        if (epoch.packetOffset != envelope.packetOffset() || !epoch.topic.equals(partition.topic())) {
            throw new SealFault(Reason.WRONG_TAG, "its epoch belongs to another topic");
        }
        return new SealedBatch.Origin(epoch.secret.key(envelope.mode(), policy.realm(), partition), epoch.signer);
    }

    private OpenEpoch readEpoch(Envelope envelope, String topic) {
        KeyLog.Entry entry = keys.read(KeyPacket.TOPIC, envelope.packetOffset());
        if (entry == null || entry.value() == null) {
            throw new SealFault(
                    Reason.UNKNOWN_SENDER,
                    "topic " + KeyPacket.TOPIC + " has no key packet at offset " + envelope.packetOffset());
        }
        KeyPacket packet = KeyPacket.decode(entry.value());
        if (!packet.epoch().equals(envelope.epoch())
                || !packet.topic().equals(topic)
                || !packet.realm().equals(policy.realm())) {
            throw new SealFault(Reason.WRONG_TAG, "its key packet belongs to another epoch, topic or realm");
        }
        if (!isTrusted(packet, entry) && !(registry.refreshed() && isTrusted(packet, entry))) {
            throw new SealFault(
                    Reason.UNKNOWN_SENDER,
                    "its key packet is not signed by a sender that may send to topic " + topic + "; it names "
                            + packet.sender());
        }
        byte[] signer = packet.signsBatches() ? rights().sender(packet.sender()).publicKey() : null;
        return new OpenEpoch(decrypt(packet, envelope.packetOffset()), topic, envelope.packetOffset(), signer);
    }

    private boolean isTrusted(KeyPacket packet, KeyLog.Entry entry) {
        Registry.Sender sender = rights().sender(packet.sender());
        return sender != null
                && sender.mayHaveSent(packet.topic(), entry.offset())
                && KeyPacket.isSigned(entry.value(), sender.publicKey());
    }

    /**
     * The secret by the first of the consumer's roles whose key can be used. If there is none, what may pass is reported
     * before what stays.
     */
    private EpochKeys decrypt(KeyPacket packet, long packetOffset) {
        SealingException unavailable = null;
        SealFault unusable = null;
        for (KeyPacket.Recipient recipient : packet.recipients()) {
            try {
                RoleKey key = roleKey(recipient);
                if (key != null) {
                    EpochKeys opened = packet.open(recipient, key);
                    if (unavailable != null) {
                        events.keyUnavailable(packet.topic(), packet.epoch(), packetOffset, unavailable.getMessage());
                    }
                    KeyEvents.epochOpened(packet, packetOffset, recipient);
                    return opened;
                }
            } catch (SealingException now) {
                unavailable = unavailable == null ? now : unavailable;
            } catch (SealFault fault) {
                if (fault.reason() != Reason.NO_KEY) {
                    throw fault;
                }
                unusable = unusable == null ? fault : unusable;
            }
        }
        if (unavailable != null) {
            throw unavailable;
        }
        if (unusable != null) {
            throw unusable;
        }
        throw new SealFault(
                Reason.NO_KEY,
                "it is sealed for "
                        + packet.recipients().stream()
                                .map(KeyPacket.Recipient::role)
                                .toList() + ", and the keyring has no key of these roles and generations");
    }

    private RoleKey roleKey(KeyPacket.Recipient recipient) {
        try {
            return policy.roleKey(recipient.role(), recipient.generation());
        } catch (DestroyedKeyException destroyed) {
            throw new SealFault(
                    Reason.NO_KEY,
                    "the key of role " + recipient.role() + ", generation " + recipient.generation()
                            + ", cannot be used any more",
                    destroyed);
        } catch (IOException unavailable) {
            throw KeyPacket.unavailable(recipient, unavailable);
        }
    }

    @Override
    public void close() {
        forgetKeys();
        reader.close();
    }
}
