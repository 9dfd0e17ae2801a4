package io.journalq.server.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.local.LocalAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AddressLimitsTest {
    private static final int MAX_FAILURES = 3;
    private static final SocketAddress ADA = new InetSocketAddress("192.0.2.1", 4_711);
    private static final SocketAddress EVE = new InetSocketAddress("192.0.2.2", 4_711);

    private long nowNanos = 1;
    private final AddressLimits limits = new AddressLimits(2, MAX_FAILURES, () -> nowNanos);

    private void fail(SocketAddress client, int logins) {
        for (int i = 0; i < logins; i++) {
            limits.onFailedLogin(client);
        }
    }

    private void pass(long seconds) {
        nowNanos += TimeUnit.SECONDS.toNanos(seconds);
    }

    @Test
    void shouldCountConnectionsOfEachAddressUntilTheyAreRemoved() {
        assertThat(limits.add(ADA)).isTrue();
        assertThat(limits.add(new InetSocketAddress("192.0.2.1", 4_712))).isTrue();
        assertThat(limits.add(ADA)).isFalse();
        assertThat(limits.add(EVE)).isTrue();

        limits.remove(ADA);
        limits.remove(ADA);
        assertThat(limits.add(ADA)).isTrue();
    }

    @Test
    void shouldTakeTheAddressesOfAnIpv6NetworkForOne() {
        assertThat(limits.add(new InetSocketAddress("2001:db8::1", 1))).isTrue();
        assertThat(limits.add(new InetSocketAddress("2001:db8::2", 1))).isTrue();
        assertThat(limits.add(new InetSocketAddress("2001:db8::ffff:3", 1))).isFalse();
        assertThat(limits.add(new InetSocketAddress("2001:db8:0:1::1", 1))).isTrue();
    }

    @Test
    void shouldLockAnAddressOutForAMinuteWhenLoginsFail() {
        fail(ADA, MAX_FAILURES - 1);
        assertThat(limits.isLockedOut(ADA)).isFalse();

        pass(30);
        fail(ADA, 1);
        assertThat(limits.isLockedOut(ADA)).isTrue();
        assertThat(limits.isLockedOut(EVE)).isFalse();

        pass(59);
        fail(ADA, MAX_FAILURES); // by connections that were open before; they do not extend it
        assertThat(limits.isLockedOut(ADA)).isTrue();
        pass(1);
        assertThat(limits.isLockedOut(ADA)).isFalse();
    }

    @Test
    void shouldForgetFailuresAfterAMinute() {
        fail(ADA, MAX_FAILURES - 1);
        pass(60);
        fail(ADA, MAX_FAILURES - 1);

        assertThat(limits.isLockedOut(ADA)).isFalse();
    }

    @Test
    void shouldRememberABoundedNumberOfAddresses() {
        fail(ADA, MAX_FAILURES);
        for (int i = 0; i < 10_000; i++) {
            fail(new InetSocketAddress("10.0." + i / 256 + "." + i % 256, 1), 1);
        }

        assertThat(limits.isLockedOut(ADA)).isFalse();
    }

    @Test
    void shouldLockNobodyOutWhenTheLimitIsZero() {
        AddressLimits unlimited = new AddressLimits(2, 0, () -> nowNanos);
        for (int i = 0; i < 100; i++) {
            unlimited.onFailedLogin(ADA);
        }

        assertThat(unlimited.isLockedOut(ADA)).isFalse();
    }

    @Test
    void shouldNotLimitAClientWithoutAnAddress() {
        for (int i = 0; i < 100; i++) {
            assertThat(limits.add(LocalAddress.ANY)).isTrue();
            limits.onFailedLogin(LocalAddress.ANY);
        }
        assertThat(limits.isLockedOut(LocalAddress.ANY)).isFalse();
    }
}
