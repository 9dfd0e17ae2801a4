package io.journalq.server.gateway.consume;

import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.security.Principal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The streams of events of one loop that wait for records, by what they wait for. Streams at the same place share one
 * fetch, and the events that it becomes: see {@link EventGroup}. A stream that is alone at its place fetches by itself. On
 * its loop.
 */
final class EventGroups {
    private final Map<Place, SseStream> alone = new HashMap<>();
    private final Map<Place, EventGroup> groups = new HashMap<>();

    /**
     * What a stream waits for, and who asks for it: the rights of clients differ.
     *
     * @param host the address of the client; null if it is not known
     * @param positions the next offset of each partition, as text
     * @param turns the partitions, in the order in which they are fetched
     */
    record Place(
            Principal principal,
            String clientId,
            InetAddress host,
            String topic,
            String positions,
            List<Integer> turns) {
        static Place of(HttpExchange client, String topic, Map<Integer, Long> positions, List<Integer> turns) {
            InetAddress host =
                    client.remoteAddress() instanceof InetSocketAddress address ? address.getAddress() : null;
            return new Place(
                    client.principal(), client.clientId(), host, topic, Cursor.format(positions), List.copyOf(turns));
        }

        /** Another place of the same clients. */
        Place behind(Map<Integer, Long> itsPositions, List<Integer> itsTurns) {
            return new Place(principal, clientId, host, topic, Cursor.format(itsPositions), List.copyOf(itsTurns));
        }
    }

    /**
     * Lets a stream share the fetch of others at its place.
     *
     * @return the group that it has joined; null if it is alone, and fetches by itself
     */
    EventGroup join(SseStream stream, Place place) {
        EventGroup group = groups.get(place);
        if (group == null) {
            if (alone.putIfAbsent(place, stream) == null) {
                return null;
            }
            group = new EventGroup(this, stream.exchange(), place);
            groups.put(place, group);
        }
        group.add(stream);
        return group;
    }

    /** A stream does not wait at its place any more. */
    void leave(SseStream stream, Place place) {
        alone.remove(place, stream);
    }

    /** A group has come to a place. Returns whether it was the first. */
    boolean arrive(EventGroup group, Place place) {
        return groups.putIfAbsent(place, group) == null;
    }

    /** A group does not wait at its place any more. */
    void leave(EventGroup group, Place place) {
        groups.remove(place, group);
    }
}
