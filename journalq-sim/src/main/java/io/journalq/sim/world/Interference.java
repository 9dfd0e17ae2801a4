package io.journalq.sim.world;

import io.journalq.common.protocol.ApiMessage;

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
}
