package io.journalq.sim.world;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.sim.disk.SimDisk;
import io.journalq.sim.disk.SimDisk.Damage;

/** Stands between clients and the broker, and plants a bug there, to see that the checks find it. */
public interface Interference {
    /** Lets everything through. */
    Interference NONE = new Interference() {};

    /** Answers a request that the broker never hears of; null to let it through. */
    default ApiMessage forge(ApiMessage request) {
        return null;
    }

    /** What arrives at the broker in place of a request. */
    default ApiMessage onRequest(ApiMessage request) {
        return request;
    }

    /** What arrives at the client in place of an answer. */
    default ApiMessage onAnswer(ApiMessage answer) {
        return answer;
    }

    /** Something was damaged while the broker was down; it has not been started yet. */
    default void onDamage(SimDisk disk, Damage damage) {}

    /** Whether what the broker logs is written. */
    default boolean logs(String words) {
        return true;
    }
}
