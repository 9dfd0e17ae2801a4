package io.journalq.bench.driver;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A client library under test. Opens producers and consumers. Thread-safe. */
public interface ClientDriver {
    /** The name in options and results, such as {@code journalq} or {@code kafka-clients}. */
    String name();

    String version();

    SyncProducer openSyncProducer(ProducerSettings settings);

    BatchProducer openBatchProducer(ProducerSettings settings);

    /** Opens a producer of single messages. The library chooses the partition of each message. */
    Publisher openPublisher(ProducerSettings settings);

    /** Opens a consumer of exactly the given partitions, each from its given offset. */
    MessageConsumer openConsumer(ConsumerSettings settings);

    /** Commits the offsets by partition at which a group without members continues. */
    void commitStart(GroupSettings settings, Map<Integer, Long> offsets);

    /** Opens a consumer that is a member of a group of the consumer protocol (KIP-848) and commits automatically. */
    MessageConsumer openMember(GroupSettings settings);

    /**
     * What the load requires of a producer, and the library's own settings.
     *
     * @param compression name of a codec, or {@code none}
     * @param extra settings by the library's own names; they override those of the driver
     */
    record ProducerSettings(String bootstrap, String topic, String compression, Map<String, String> extra) {}

    /**
     * What a consumer reads.
     *
     * @param startOffsets first offset to read, by partition
     * @param extra settings by the library's own names
     */
    record ConsumerSettings(
            String bootstrap, String topic, Map<Integer, Long> startOffsets, Map<String, String> extra) {}

    /**
     * Which group reads which topic.
     *
     * @param extra settings by the library's own names
     */
    record GroupSettings(String bootstrap, String topic, String group, Map<String, String> extra) {}

    /** Sends one message and waits for its acknowledgement. Thread-safe. */
    interface SyncProducer extends AutoCloseable {
        /** Returns the offset of the acknowledged message. An exception means that it was not acknowledged. */
        long send(int partition, byte[] value) throws Exception;

        @Override
        void close();
    }

    /** Sends messages in batches without waiting. Thread-safe. */
    interface BatchProducer extends AutoCloseable {
        /**
         * Passes a batch for one partition to the library. May wait while the library's own limits are reached. Unless
         * this method throws, it calls {@code listener} exactly once, on any thread.
         */
        void send(int partition, List<byte[]> values, Listener listener) throws Exception;

        /** Sends all messages that the library still buffers, and waits for their responses. */
        void flush() throws Exception;

        @Override
        void close();

        /** Receives the outcome of a batch. */
        @FunctionalInterface
        interface Listener {
            /** {@code failure} is null if every message of the batch was acknowledged. */
            void onComplete(Throwable failure);
        }
    }

    /**
     * Sends single messages without waiting; the library may gather them into requests. Used by one thread at a time. Has
     * its own connection if the library supports that.
     */
    interface Publisher extends AutoCloseable {
        /**
         * Passes a message to the library. May wait while the library's own limits are reached.
         *
         * @param confirmation is called exactly once, on any thread, unless this method throws; without
         *     acknowledgements, it is called when the library has accepted the message
         */
        void publish(byte[] value, Confirmation confirmation) throws Exception;

        /** Sends all messages that the library still buffers, and waits for their responses. */
        void flush() throws Exception;

        @Override
        void close();

        /** Receives the outcome of a message. */
        @FunctionalInterface
        interface Confirmation {
            /** {@code failure} is null on success. */
            void onConfirmed(Throwable failure);
        }
    }

    /** Reads the partitions that it was opened for, or that its group assigns to it. Used by one thread. */
    interface MessageConsumer extends AutoCloseable {
        /**
         * Waits up to {@code timeout} for messages and passes each to {@code visitor}.
         *
         * @return the number of messages
         */
        int poll(Duration timeout, Visitor visitor) throws Exception;

        /** The number of partitions that are assigned at the moment. */
        int share();

        @Override
        void close();

        /** Visits messages. In two steps, so that a reader that only counts messages does not decode every value. */
        interface Visitor {
            /**
             * Visits a message, in the order of its partition.
             *
             * @return whether to pass its value to {@link #onValue}
             */
            boolean onMessage(int partition, long offset);

            void onValue(int partition, long offset, byte[] value);
        }
    }
}
