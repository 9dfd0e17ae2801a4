package io.journalq.server.api.data;

import io.journalq.server.loop.Limit;
import io.journalq.server.loop.LoopCycle;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The fetch sessions of one connection, and its fetches without a session. A session ends with its connection. A client
 * that reconnects begins a new one, as the protocol provides for. On the connection's loop.
 */
final class FetchSessions implements AutoCloseable {
    /**
     * Maximum number of sessions of one connection. Known clients use one session on each connection. Beyond the limit,
     * the oldest session ends.
     */
    static final int MAX_SESSIONS = 8;

    private final LoopCycle cycle;
    private final SessionBudget budget;
    private final Runnable onClose;
    private final Map<Integer, FetchSession> sessionById = new LinkedHashMap<>();
    private final Set<FetchSession> sessionless = new LinkedHashSet<>();
    private final ColdReads coldReads;
    private int lastId;
    private boolean closed;

    FetchSessions(LoopCycle cycle, SessionBudget budget, Runnable onClose) {
        this.cycle = cycle;
        this.budget = budget;
        this.onClose = onClose;
        this.coldReads = new ColdReads(cycle);
    }

    ColdReads coldReads() {
        return coldReads;
    }

    /** Whether the client has disconnected. */
    boolean isClosed() {
        return closed;
    }

    LoopCycle cycle() {
        return cycle;
    }

    /** The session of that id; null when there is none. */
    FetchSession find(int id) {
        return sessionById.get(id);
    }

    FetchSession open(boolean usesTopicIds) {
        if (sessionById.size() >= MAX_SESSIONS) {
            Iterator<FetchSession> oldestFirst = sessionById.values().iterator();
            FetchSession oldest = oldestFirst.next();
            oldestFirst.remove();
            oldest.close();
            cycle.counters().onLimit(Limit.FETCH_SESSIONS);
        }
        lastId = lastId == Integer.MAX_VALUE ? 1 : lastId + 1;
        FetchSession session = new FetchSession(lastId, usesTopicIds, cycle, budget);
        sessionById.put(lastId, session);
        return session;
    }

    /** Opens a session for a fetch without one, until its response is sent. */
    FetchSession openSessionless(boolean usesTopicIds) {
        FetchSession session = new FetchSession(FetchSession.NO_SESSION, usesTopicIds, cycle, budget);
        sessionless.add(session);
        return session;
    }

    void end(int id) {
        FetchSession session = sessionById.remove(id);
        if (session != null) {
            session.close();
        }
    }

    /** The response of a fetch is sent. If it had no session, its temporary session ends. */
    void onResponded(FetchSession session) {
        if (session.id() == FetchSession.NO_SESSION) {
            sessionless.remove(session);
            session.close();
        }
    }

    /** Responds to every parked fetch with the available records. */
    void hurry() {
        List<FetchSession> all = new ArrayList<>(sessionById.values());
        all.addAll(sessionless);
        for (FetchSession session : all) {
            if (session.pending() != null) {
                session.pending().onTimeout();
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        sessionById.values().forEach(FetchSession::close);
        sessionById.clear();
        List<FetchSession> open = new ArrayList<>(sessionless);
        sessionless.clear();
        open.forEach(FetchSession::close);
        onClose.run();
    }
}
