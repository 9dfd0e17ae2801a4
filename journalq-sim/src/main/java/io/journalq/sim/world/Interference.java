package io.journalq.sim.world;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.Message;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.journal.file.FileStore;
import io.journalq.sim.disk.SimDisk;
import io.journalq.sim.disk.SimDisk.Damage;
import java.util.List;

/**
 * Changes requests and responses between clients and the broker, and the metadata of a cluster. Tests plant bugs with
 * it to see that the checks find them.
 */
public interface Interference {
    /** Changes nothing. */
    Interference NONE = new Interference() {};

    /** A forged response to a request that then does not reach the broker; null to let the request through. */
    default ApiMessage forge(ApiMessage request) {
        return null;
    }

    /** The request that reaches the broker instead of {@code request}. */
    default ApiMessage onRequest(ApiMessage request) {
        return request;
    }

    /** The response that reaches the client instead of {@code response}. */
    default ApiMessage onResponse(ApiMessage response) {
        return response;
    }

    /** Data were damaged while the broker was down. It has not been started again yet. */
    default void onDamage(SimDisk disk, Damage damage) {}

    /** Whether a truncation of a follower's log makes the copies in the write-ahead files void. */
    default boolean recordsCuts() {
        return true;
    }

    /** Whether a bug in a cluster concerns transactions. Searches for other bugs are faster without them. */
    default boolean concernsTransactions() {
        return false;
    }

    /** The settings of a broker of a cluster instead of {@code config}. */
    default BrokerConfig config(BrokerConfig config) {
        return config;
    }

    /** The disk that a broker of a cluster uses instead of {@code disk}. */
    default FileStore disk(FileStore disk) {
        return disk;
    }

    /** What a broker says about its last registration instead of {@code previousEpoch}. */
    default long onRegistration(long previousEpoch) {
        return previousEpoch;
    }

    /** Whether brokers do not tell the controllers of other brokers that replicas have lost records. */
    default boolean keepsQuietAboutLoss() {
        return false;
    }

    /** Whether a message of the broker is logged. */
    default boolean logs(String message) {
        return true;
    }

    /** The records that a broker restores instead of those of a snapshot of the metadata. */
    default List<Message> onSnapshot(List<Message> records) {
        return records;
    }

    /** Whether a deposed controller applies what it decides, although it is never committed. */
    default boolean appliesUncommitted() {
        return false;
    }

    /** What a controller proposes instead of {@code records}. */
    default List<Message> onDecision(List<Message> records) {
        return records;
    }

    /** The metadata that a broker applies instead of {@code records}. */
    default List<Message> onMetadata(int nodeId, List<Message> records) {
        return records;
    }

    /** Whether brokers apply metadata that were decided on in another state, such as a repeated proposal. */
    default boolean appliesUnfit() {
        return false;
    }

    /** The fetch of another replica that reaches a leader instead of {@code request}. */
    default FetchRequest onPeerFetch(int from, FetchRequest request) {
        return request;
    }

    /** The response to a replica's fetch that leaves the leader instead of {@code response}. */
    default FetchResponse onPeerFetched(FetchRequest request, FetchResponse response) {
        return response;
    }
}
