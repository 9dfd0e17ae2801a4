package io.journalq.client.internal.network;

import io.journalq.client.error.BrokerErrorException;
import io.journalq.client.error.InstanceIdInUseException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.MembershipLostException;
import io.journalq.client.error.OffsetOutOfRangeException;
import io.journalq.client.error.OutOfOrderException;
import io.journalq.client.error.ProducerReplacedException;
import io.journalq.client.error.RecordTooLargeException;
import io.journalq.client.error.RequestTimedOutException;
import io.journalq.client.error.TopicExistsException;
import io.journalq.client.error.UnknownTopicException;
import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.common.protocol.ErrorCode;

/** Maps error codes of the protocol to exceptions whose messages say what to do. Stateless. */
public final class Errors {
    private Errors() {}

    /**
     * Returns the exception for an error of a broker.
     *
     * @param error any code except {@link ErrorCode#NONE}
     * @param subject the subject of the request, such as "topic orders"
     * @param brokerMessage the message of the broker, or null
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
                "; create the topic, or check its name and number of partitions";
            case TOPIC_ALREADY_EXISTS -> "; use the existing topic, or delete it first";
            case MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE ->
                "; send smaller batches, or raise the topic's max.message.bytes";
            case UNSUPPORTED_VERSION -> "; use a newer broker, or do not use this feature";
            case OFFSET_OUT_OF_RANGE -> "; seek to an offset between beginningOffsets and endOffsets";
            case OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_PRODUCER_ID ->
                "; earlier records of this producer are missing on the broker: check for data loss before you send"
                        + " again";
            case NOT_ENOUGH_REPLICAS, NOT_ENOUGH_REPLICAS_AFTER_APPEND ->
                "; start the missing brokers, or lower the topic's min.insync.replicas";
            case INVALID_REPLICATION_FACTOR -> "; use a replication factor of at most the number of brokers";
            case INVALID_TOPIC_EXCEPTION -> "; use letters, digits, '.', '_' and '-', at most 249 of them";
            case TOPIC_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED, GROUP_AUTHORIZATION_FAILED ->
                "; request the permission";
            case SECURITY_DISABLED -> "; the broker does not enforce rights: set authorization.enabled=true";
            case INVALID_RECORD, INVALID_TIMESTAMP -> "; change the record: a retry cannot succeed";
            case REQUEST_TIMED_OUT -> "; try again, or raise the request timeout";
            case FENCED_MEMBER_EPOCH,
                    UNKNOWN_MEMBER_ID,
                    STALE_MEMBER_EPOCH,
                    ILLEGAL_GENERATION,
                    REBALANCE_IN_PROGRESS ->
                "; the consumer is no longer a member of the group: poll to join it again, and poll more often or raise"
                        + " maxPollInterval if this happens often";
            case UNRELEASED_INSTANCE_ID ->
                "; stop the member that uses it, or subscribe again after the session timeout of the broker if that"
                        + " member died";
            case FENCED_INSTANCE_ID -> "; use a different groupInstanceId for each running member";
            case PRODUCER_FENCED, INVALID_PRODUCER_EPOCH ->
                "; another producer with this transactionalId replaced this one, or the transaction was open for"
                        + " longer than transactionTimeout: close this producer, and build a new one if needed";
            case TRANSACTION_ABORTABLE, INVALID_TXN_STATE, INVALID_PRODUCER_ID_MAPPING ->
                "; the transaction is aborted: run it again";
            case INVALID_TRANSACTION_TIMEOUT ->
                "; lower transactionTimeout, or raise the broker's transaction.max.timeout.ms";
            case UNSUPPORTED_ASSIGNOR -> "; use an assignor that the broker supports, such as uniform or range";
            case INVALID_REGULAR_EXPRESSION -> "; use RE2 syntax";
            case GROUP_MAX_SIZE_REACHED -> "; run fewer consumers, or raise group.max.size of the broker";
            case GROUP_ID_NOT_FOUND ->
                "; the group has members of the classic protocol: stop them first, or use another groupId";
            case OFFSET_METADATA_TOO_LARGE ->
                "; commit shorter metadata, or raise offset.metadata.max.bytes of the broker";
            case INVALID_GROUP_ID -> "; use a groupId that is not empty";
            default -> error.retriable() ? "; try again" : "";
        };
    }
}
