package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.network.Door;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class DeferredDoorTest {
    private final Queue<Runnable> pool = new ArrayDeque<>();
    private final List<String> steps = new ArrayList<>();

    private final Door opened = (channel, loop, listenerName) -> {
        steps.add("opened " + listenerName);
        return null;
    };

    @Test
    void shouldCreateTheDoorInThePoolBeforeItIsReady() {
        DeferredDoor door = new DeferredDoor("gateway", pool::add, () -> {
            steps.add("created");
            return opened;
        });
        // when the first client has connected
        door.prepare(() -> steps.add("ready"), () -> steps.add("failed"));
        // then the caller does not wait
        assertThat(steps).isEmpty();
        // when the pool gets to it
        pool.remove().run();
        door.open(null, null, "GATEWAY");
        // then
        assertThat(steps).containsExactly("created", "ready", "opened GATEWAY");
        assertThat(pool).isEmpty();
    }

    @Test
    void shouldNotBeReadyWithoutADoor() {
        DeferredDoor door = new DeferredDoor("gateway", pool::add, () -> {
            throw new OutOfMemoryError("of a test");
        });
        door.prepare(() -> steps.add("ready"), () -> steps.add("failed"));
        // when
        pool.remove().run();
        // then
        assertThat(steps).containsExactly("failed");
    }

    @Test
    void shouldNotBeReadyWhenThereIsNoThreadForIt() {
        DeferredDoor door = new DeferredDoor(
                "gateway",
                work -> {
                    throw new RejectedExecutionException("no thread can be created");
                },
                () -> opened);
        // when
        door.prepare(() -> steps.add("ready"), () -> steps.add("failed"));
        // then
        assertThat(steps).containsExactly("failed");
    }
}
