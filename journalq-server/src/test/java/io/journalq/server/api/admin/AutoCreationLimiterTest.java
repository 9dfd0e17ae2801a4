package io.journalq.server.api.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AutoCreationLimiterTest {
    private static final int RATE = 5;
    private static final int BURST = 50;

    private final AutoCreationLimiter rate = new AutoCreationLimiter(RATE);
    private long nowNanos = TimeUnit.DAYS.toNanos(1);

    private int created(String address, int wanted) {
        int created = 0;
        for (int i = 0; i < wanted; i++) {
            // a different connection each time
            SocketAddress client = new InetSocketAddress(address, 1_000 + i);
            created += rate.take(client, nowNanos) ? 1 : 0;
        }
        return created;
    }

    @Test
    void shouldRefuseWhenAnAddressAsksFasterThanItMayOnAnyConnection() {
        assertThat(created("10.0.0.1", 1_000)).isEqualTo(BURST);

        nowNanos += TimeUnit.SECONDS.toNanos(2);
        assertThat(created("10.0.0.1", 1_000)).isEqualTo(2 * RATE);
    }

    @Test
    void shouldLetOthersGoOnWhenOneAddressIsRefused() {
        created("10.0.0.1", 1_000);

        assertThat(created("10.0.0.2", 1_000)).isEqualTo(BURST);
    }

    @Test
    void shouldAllowOneBurstOnlyWhenAnAddressWasSilentForLong() {
        created("10.0.0.1", 1);
        nowNanos += TimeUnit.DAYS.toNanos(1);

        assertThat(created("10.0.0.1", 1_000)).isEqualTo(BURST);
    }

    @Test
    void shouldForgetTheOldestWhenThereAreTooManyAddresses() {
        created("10.0.0.1", 1_000);
        for (int i = 0; i < AutoCreationLimiter.MAX_ADDRESSES; i++) {
            created("10.1." + i / 256 + "." + i % 256, 1);
        }

        assertThat(created("10.0.0.1", 1_000)).isEqualTo(BURST);
    }
}
