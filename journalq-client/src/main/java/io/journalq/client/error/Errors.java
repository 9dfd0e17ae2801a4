package io.journalq.client.error;

import io.journalq.client.JournalQException;
import io.journalq.common.protocol.ErrorCode;

/** Turns an error code of the protocol into the exception for it, with words that say what to do. Stateless. */
public final class Errors {
    private Errors() {}

    /**
     * The exception for an error that a broker answered.
     *
     * @param error any but {@link ErrorCode#NONE}
     * @param subject what the request was about, such as "topic orders"
     * @param brokerMessage the broker's own words, or null
     */
    public static JournalQException of(ErrorCode error, String subject, String brokerMessage) {
        String words = subject + ": "
                + (brokerMessage == null || brokerMessage.isEmpty() ? error.words() : brokerMessage)
                + remedy(error);
        return switch (error) {
            case UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID -> new UnknownTopicException(words);
            case TOPIC_ALREADY_EXISTS -> new TopicExistsException(words);
            case MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE -> new RecordTooLargeException(words);
            case UNSUPPORTED_VERSION -> new UnsupportedByBrokerException(words);
            case OFFSET_OUT_OF_RANGE -> new OffsetOutOfRangeException(words);
            case REQUEST_TIMED_OUT -> new RequestTimedOutException(words);
            case OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_PRODUCER_ID -> new OutOfOrderException(words);
            case FENCED_MEMBER_EPOCH,
                    UNKNOWN_MEMBER_ID,
                    STALE_MEMBER_EPOCH,
                    ILLEGAL_GENERATION,
                    REBALANCE_IN_PROGRESS -> new MembershipLostException(words, error);
            case PRODUCER_FENCED, INVALID_PRODUCER_EPOCH -> new ProducerReplacedException(words, error);
            case UNRELEASED_INSTANCE_ID, FENCED_INSTANCE_ID -> new InstanceIdInUseException(words, error);
            default -> new BrokerErrorException(words, error);
        };
    }

    private static String remedy(ErrorCode error) {
        return switch (error) {
            case UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID ->
                "; create the topic, or check its name and partition count";
            case TOPIC_ALREADY_EXISTS -> "; use it, or delete it first";
            case MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE ->
                "; send smaller batches, or raise the topic's max.message.bytes";
            case UNSUPPORTED_VERSION -> "; use a newer broker, or do without the feature";
            case OFFSET_OUT_OF_RANGE -> "; seek to an offset between beginningOffsets and endOffsets";
            case OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_PRODUCER_ID ->
                "; earlier records of this producer are missing on the broker: check for lost data, then send again";
            case NOT_ENOUGH_REPLICAS, NOT_ENOUGH_REPLICAS_AFTER_APPEND ->
                "; start the missing brokers, or lower the topic's min.insync.replicas";
            case INVALID_REPLICATION_FACTOR -> "; use a replication factor of at most the number of brokers";
            case INVALID_TOPIC_EXCEPTION -> "; use letters, digits, '.', '_' and '-', at most 249 of them";
            case TOPIC_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED, GROUP_AUTHORIZATION_FAILED ->
                "; ask for the permission";
            case INVALID_RECORD, INVALID_TIMESTAMP -> "; change the record: sending it again will not help";
            case REQUEST_TIMED_OUT -> "; try again, or raise the request time-out";
            case FENCED_MEMBER_EPOCH,
                    UNKNOWN_MEMBER_ID,
                    STALE_MEMBER_EPOCH,
                    ILLEGAL_GENERATION,
                    REBALANCE_IN_PROGRESS ->
                "; the group goes on without this member: poll to join it again, and poll more often or raise"
                        + " maxPollIntervalMs if this happens often";
            case UNRELEASED_INSTANCE_ID ->
                "; stop the member that has it, or subscribe again after the broker's session time-out if it died";
            case FENCED_INSTANCE_ID -> "; give every running member a groupInstanceId of its own";
            case PRODUCER_FENCED, INVALID_PRODUCER_EPOCH ->
                "; another producer with this transactionalId took over, or the transaction was open for longer than"
                        + " transactionTimeoutMs: close this producer, and build another if it is to go on";
            case TRANSACTION_ABORTABLE, INVALID_TXN_STATE, INVALID_PRODUCER_ID_MAPPING ->
                "; the transaction is aborted: run it again";
            case INVALID_TRANSACTION_TIMEOUT ->
                "; lower transactionTimeoutMs, or raise the broker's transaction.max.timeout.ms";
            case UNSUPPORTED_ASSIGNOR -> "; use an assignor that the broker offers, such as uniform or range";
            case INVALID_REGULAR_EXPRESSION -> "; use RE2 syntax";
            case GROUP_MAX_SIZE_REACHED -> "; run fewer consumers, or raise the broker's limit of members";
            case GROUP_ID_NOT_FOUND ->
                "; the group has members of the classic protocol: stop them first, or use another groupId";
            case OFFSET_METADATA_TOO_LARGE ->
                "; commit shorter metadata, or raise the broker's offset.metadata.max.bytes";
            case INVALID_GROUP_ID -> "; use a groupId that is not empty";
            default -> error.retriable() ? "; try again" : "";
        };
    }
}
