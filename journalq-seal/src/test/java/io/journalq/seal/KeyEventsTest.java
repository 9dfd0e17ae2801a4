package io.journalq.seal;

import static io.journalq.seal.SealedWorld.ORDERS;
import static io.journalq.seal.SealedWorld.ROLE;
import static io.journalq.seal.SealedWorld.SENDER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.SealViolationException;
import io.journalq.client.error.SealingException;
import io.journalq.client.seal.BatchOpener;
import io.journalq.client.seal.BatchSealer;
import io.journalq.client.seal.KeyLog;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the log says about keys, and what it must never say. */
class KeyEventsTest {
    private final Logger logger = Logger.getLogger(KeyEvents.LOGGER);
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord record) {
            lines.add(record.getLevel() + " " + record.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void listen() {
        logger.setLevel(Level.ALL);
        logger.addHandler(handler);
    }

    @AfterEach
    void stop() {
        logger.removeHandler(handler);
        logger.setLevel(null);
    }

    private static byte[] sealOne(BatchSealer sealer, long offset) {
        return SealedWorld.seal(sealer, ORDERS, SealedWorld.batch(CompressionCodec.NONE, 1, 5), offset);
    }

    private List<String> of(String event) {
        return lines.stream()
                .filter(line -> line.contains("event=" + event + " "))
                .toList();
    }

    @Test
    void shouldLogTheLifeOfKeysWithStableFields() throws Exception {
        try (SealedWorld world = new SealedWorld()) {
            // when a topic is sealed and read, and its readers change
            BatchSealer sealer = world.sealer();
            BatchOpener opener = world.opener();
            SealedWorld.open(opener, ORDERS, sealOne(sealer, 0));
            byte[] second = world.readerVault.makeRole(ROLE, 2).publicKey();
            world.admin.change(registry -> registry.withRole(ROLE, 2, second));
            sealOne(sealer, 1);
            world.admin.change(registry -> registry.withTopic(ORDERS.topic(), SealMode.BATCH, List.of()));
            world.admin.revokeSender(SENDER);
            world.readerVault.destroyRole(ROLE, 1);

            // then
            assertThat(of("key-added"))
                    .contains(
                            "INFO event=key-added key=root",
                            "INFO event=key-added key=sender/billing",
                            "INFO event=key-added key=role/readers/1",
                            "INFO event=key-added key=role/readers/2");
            assertThat(of("sender-registered"))
                    .containsExactly("INFO event=sender-registered sender=billing topics=* version=7");
            assertThat(of("role-registered"))
                    .containsExactly("INFO event=role-registered role=readers generation=1 version=7");
            assertThat(of("role-granted"))
                    .contains("INFO event=role-granted topic=orders mode=batch role=readers version=7");
            assertThat(of("role-rotated"))
                    .containsExactly("INFO event=role-rotated role=readers generation=2 version=8");
            assertThat(of("role-revoked"))
                    .containsExactly("INFO event=role-revoked topic=orders mode=batch role=readers version=9");
            assertThat(of("sender-revoked"))
                    .containsExactly("INFO event=sender-revoked sender=billing packet-offset=2 version=10");
            assertThat(of("key-destroyed")).containsExactly("INFO event=key-destroyed key=role/readers/1");
            assertThat(of("epoch-created"))
                    .satisfiesExactly(
                            first -> assertThat(first)
                                    .startsWith("INFO event=epoch-created topic=orders mode=batch epoch=")
                                    .contains(" packet-offset=0 sender=billing roles=readers/1 not-after-ms=")
                                    .endsWith(" cause=start"),
                            next -> assertThat(next)
                                    .contains(" packet-offset=1 sender=billing roles=readers/2 ")
                                    .endsWith(" cause=readers"));
            assertThat(of("epoch-opened"))
                    .singleElement()
                    .asString()
                    .endsWith(" packet-offset=0 sender=billing role=readers/1");
            assertThat(of("registry-accepted"))
                    .contains("INFO event=registry-accepted realm=tests version=7 root=" + world.root);
        }
    }

    @Test
    void shouldLogARefusalOnceUntilItsCauseChanges() throws Exception {
        try (SealedWorld world = new SealedWorld()) {
            // given
            BatchSealer sealer = world.sealer();
            byte[] sealed = sealOne(sealer, 7);
            BatchOpener stranger = world.policy(KeyVault.inMemory()).build().opener(world.keys);

            // when
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> SealedWorld.open(stranger, ORDERS, sealed))
                        .isInstanceOf(SealViolationException.class);
                assertThatThrownBy(() -> sealer.prepare("un\nknown")).isInstanceOf(SealingException.class);
            }
            KeyLog.Entry newest = world.keys
                    .entries(Registry.TOPIC)
                    .get(world.keys.entries(Registry.TOPIC).size() - 1);
            world.keys.entries(Registry.TOPIC).remove(newest);
            TrustPolicy trust = TrustPolicy.pinned(world.root, null);
            world.keys.entries(Registry.TOPIC).add(newest);
            trust.newest(world.keys);
            world.keys.entries(Registry.TOPIC).remove(newest);
            assertThatThrownBy(() -> trust.newest(world.keys)).isInstanceOf(SealingException.class);

            // then
            assertThat(of("key-refused"))
                    .singleElement()
                    .asString()
                    .startsWith("WARNING event=key-refused topic=orders epoch=")
                    .contains(" packet-offset=0 code=NO_KEY reason=\"it is sealed for [readers], and the keyring");
            assertThat(of("batch-refused"))
                    .singleElement()
                    .asString()
                    .startsWith("WARNING event=batch-refused topic=orders partition=0 offset=7 code=NO_KEY reason=\"");
            assertThat(of("send-refused"))
                    .as("a name cannot begin a line of its own")
                    .singleElement()
                    .asString()
                    .startsWith(
                            "WARNING event=send-refused topic=\"un\\u000aknown\" sender=billing reason=\"nobody may");
            assertThat(of("registry-refused"))
                    .containsExactly("WARNING event=registry-refused version=1 newest-version=7"
                            + " reason=\"a newer version has been seen before\"");
        }
    }

    @Test
    void shouldLogAServiceThatIsAwayWhenAnotherRoleOpensTheEpoch() throws Exception {
        try (SealedWorld world = new SealedWorld()) {
            // given a role whose service is away, before the one that the consumer has
            world.admin.change(registry -> registry.withRole("auditors", 1, TestRsa.KEY.publicKey())
                    .withTopic(ORDERS.topic(), SealMode.BATCH, List.of("auditors", ROLE)));
            byte[] sealed = sealOne(world.sealer(), 0);
            BatchOpener opener = world.policy(world.readerVault)
                    .roleKeys((role, generation) -> {
                        throw new IOException("the service is away");
                    })
                    .build()
                    .opener(world.keys);

            // when
            for (int i = 0; i < 3; i++) {
                SealedWorld.open(opener, ORDERS, sealed);
            }

            // then
            assertThat(of("key-unavailable"))
                    .singleElement()
                    .asString()
                    .startsWith("WARNING event=key-unavailable topic=orders epoch=")
                    .endsWith(" packet-offset=0 reason=\"the key of role auditors, generation 1, cannot be used: the"
                            + " service is away\"");
            assertThat(of("epoch-opened")).singleElement().asString().endsWith(" sender=billing role=readers/1");
            opener.close();
        }
    }

    @Test
    void shouldNeverLogKeysOrRecords() throws Exception {
        List<byte[]> secrets = new ArrayList<>();
        try (SealedWorld world = new SealedWorld()) {
            // given
            secrets.add(world.adminVault.root().privateKey());
            secrets.add(world.senderVault.sender(SENDER).privateKey());
            RawKeyPair role = (RawKeyPair) world.readerVault.role(ROLE, 1);
            secrets.add(role.privateKey());

            // when everything that can be logged is logged
            BatchSealer sealer = world.sealer();
            byte[] sealed = sealOne(sealer, 0);
            SealedWorld.open(world.opener(), ORDERS, sealed);
            KeyLog.Entry entry = world.keys.entries(KeyPacket.TOPIC).get(0);
            KeyPacket packet = KeyPacket.decode(entry.value());
            EpochKeys epoch = packet.open(packet.recipients().get(0), role);
            secrets.add(epoch.secret().clone());
            secrets.add(epoch.key(SealMode.BATCH, SealedWorld.REALM, ORDERS).getEncoded());
            for (int i = RecordBatch.HEADER_SIZE_BYTES; i < sealed.length; i += 5) {
                byte[] changed = sealed.clone();
                changed[i] ^= 0x11;
                open(world.opener(), changed);
            }
            for (int i = 0; i < entry.value().length; i += 5) {
                byte[] changed = entry.value().clone();
                changed[i] ^= 0x11;
                world.keys.entries(KeyPacket.TOPIC).set(0, new KeyLog.Entry(0, entry.key(), changed));
                open(world.opener(), sealed);
            }
        }

        // then
        assertThat(of("batch-refused")).hasSizeGreaterThan(20);
        assertThat(of("key-refused")).hasSizeGreaterThan(20);
        String all = String.join("\n", lines);
        assertThat(all).doesNotContain("value-0", "key-0", "header-0");
        for (byte[] secret : secrets) {
            assertThat(all.toLowerCase(Locale.ROOT))
                    .doesNotContain(HexFormat.of().formatHex(secret));
            assertThat(all)
                    .doesNotContain(Base64.getEncoder().withoutPadding().encodeToString(secret))
                    .doesNotContain(Base64.getUrlEncoder().withoutPadding().encodeToString(secret))
                    .doesNotContain(Arrays.toString(secret));
        }
    }

    private static void open(BatchOpener opener, byte[] sealed) {
        TopicPartition partition = ORDERS;
        try {
            SealedWorld.open(opener, partition, sealed);
        } catch (SealViolationException refused) {
            assertThat(refused.partition()).isEqualTo(partition);
        }
    }
}
