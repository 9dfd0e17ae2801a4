package io.journalq.sim.disk;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** The entries of a directory, twice: as the file system shows them, and as the disk holds them. */
final class SimDirectory implements SimDisk.Node {
    private final Map<String, SimDisk.Node> shown = new TreeMap<>();
    private final Map<String, SimDisk.Node> onDisk = new TreeMap<>();
    private final List<Change> unsynced = new ArrayList<>();

    /**
     * A change that has not been fsynced.
     *
     * @param removed name of the removed entry; null for none
     * @param name name of the new entry; null for none
     * @param node the file or directory of the new entry
     */
    private record Change(String removed, String name, SimDisk.Node node) {
        void apply(Map<String, SimDisk.Node> names) {
            if (removed != null) {
                names.remove(removed);
            }
            if (name != null) {
                names.put(name, node);
            }
        }
    }

    SimDisk.Node get(String name) {
        return shown.get(name);
    }

    List<String> names() {
        return new ArrayList<>(shown.keySet());
    }

    Iterable<SimDisk.Node> nodes() {
        return shown.values();
    }

    void put(String name, SimDisk.Node node) {
        change(new Change(null, name, node));
    }

    void remove(String name) {
        change(new Change(name, null, null));
    }

    void move(String from, String to) {
        change(new Change(from, to, shown.get(from)));
    }

    private void change(Change change) {
        change.apply(shown);
        unsynced.add(change);
    }

    void sync() {
        unsynced.forEach(change -> change.apply(onDisk));
        unsynced.clear();
    }

    @Override
    public void losePower(Random random) {
        if (random.nextBoolean()) {
            // Like a journaling file system: in order, up to a random point.
            unsynced.subList(0, random.nextInt(unsynced.size() + 1)).forEach(change -> change.apply(onDisk));
        } else {
            for (Change change : unsynced) {
                if (random.nextBoolean()) {
                    change.apply(onDisk);
                }
            }
        }
        unsynced.clear();
        shown.clear();
        shown.putAll(onDisk);
        shown.values().forEach(node -> node.losePower(random));
    }
}
