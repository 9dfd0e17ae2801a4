package io.journalq.seal;

import static io.journalq.seal.SealedWorld.CUSTOMERS;
import static io.journalq.seal.SealedWorld.ROLE;
import static io.journalq.seal.SealedWorld.SENDER;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.journalq.client.error.SealViolationException;
import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.client.error.SealingException;
import io.journalq.client.seal.BatchSealer;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Header;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Mode token: the broker sees a token instead of each key. */
class TokenKeyTest {
    private SealedWorld world;

    @BeforeEach
    void begin() throws IOException {
        world = new SealedWorld();
    }

    @AfterEach
    void end() {
        world.close();
    }

    /** A record as the broker sees it. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Shown(String token, byte[] value, List<Header> headers) {}

    private static ByteBuf plain(String key, String value) {
        try (BatchBuilder builder = new BatchBuilder(ByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.setProducerState(77, (short) 3, 5, false);
            builder.append(
                    1_000,
                    key == null ? null : key.getBytes(UTF_8),
                    value == null ? null : value.getBytes(UTF_8),
                    List.of(new Header("h", "header".getBytes(UTF_8))));
            return builder.build();
        }
    }

    private static byte[] outer(Shown record) {
        try (BatchBuilder builder = new BatchBuilder(ByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(1_000, HexFormat.of().parseHex(record.token), record.value, record.headers);
            ByteBuf batch = builder.build();
            byte[] bytes = ByteBufUtil.getBytes(batch);
            batch.release();
            return bytes;
        }
    }

    private static byte[] seal(BatchSealer sealer, String key, String value) {
        return SealedWorld.seal(sealer, CUSTOMERS, plain(key, value), 0);
    }

    private static Shown shown(byte[] sealed) {
        try (BatchReader reader =
                new BatchReader(ByteBufAllocator.DEFAULT, BatchReader.DEFAULT_MAX_DECOMPRESSED_SIZE_BYTES, false)) {
            reader.reset(Unpooled.wrappedBuffer(sealed));
            reader.nextBatch();
            reader.next();
            return new Shown(
                    HexFormat.of().formatHex(ByteBufUtil.getBytes(reader.key())),
                    reader.value() == null ? null : ByteBufUtil.getBytes(reader.value()),
                    reader.headers());
        }
    }

    private Reason refusal(Shown record) {
        byte[] bytes = outer(record);
        Throwable thrown = catchThrowable(() -> SealedWorld.open(world.opener(), CUSTOMERS, bytes));
        assertThat(thrown).isInstanceOf(SealViolationException.class);
        return ((SealViolationException) thrown).reason();
    }

    @Test
    void shouldShowTheSameTokenForTheSameKeyInEachEpochAndNoKey() {
        byte[] one = seal(world.sealer(), "ada@example", "1");
        byte[] again = seal(world.sealer(), "ada@example", "2");
        byte[] other = seal(world.sealer(), "eve@example", "3");

        assertThat(shown(one).token())
                .hasSize(2 * TokenKey.TOKEN_SIZE_BYTES)
                .isEqualTo(shown(again).token());
        assertThat(shown(other).token()).isNotEqualTo(shown(one).token());
        assertThat(new String(one, StandardCharsets.ISO_8859_1)).doesNotContain("ada@", "header");
        assertThat(SealedWorld.open(world.opener(), CUSTOMERS, again))
                .singleElement()
                .satisfies(record -> {
                    assertThat(record.key()).isEqualTo("ada@example");
                    assertThat(record.value()).isEqualTo("2");
                    assertThat(record.headers()).hasSize(1);
                });
        TokenKey key = world.senderVault.tokenKey(CUSTOMERS.topic());
        List<String> tokens = new ArrayList<>();
        for (String[] place : new String[][] {{"tests", "customers"}, {"tests", "others"}, {"other", "customers"}}) {
            tokens.add(HexFormat.of().formatHex(key.token(place[0], place[1], "ada@example".getBytes(UTF_8))));
        }
        assertThat(tokens).doesNotHaveDuplicates().contains(shown(one).token());
    }

    @Test
    void shouldSealTombstonesAndRefuseThoseThatABrokerHasMade() {
        Shown tombstone = shown(seal(world.sealer(), "ada@example", null));
        Shown empty = shown(seal(world.sealer(), "ada@example", ""));

        assertThat(tombstone.value()).isNull();
        byte[] genuine = outer(tombstone);
        assertThat(SealedWorld.open(world.opener(), CUSTOMERS, genuine))
                .singleElement()
                .satisfies(record -> {
                    assertThat(record.key()).isEqualTo("ada@example");
                    assertThat(record.value()).isNull();
                });
        assertThat(refusal(new Shown(empty.token(), null, List.of()))).isEqualTo(Reason.PLAIN_BATCH);
        assertThat(refusal(new Shown(empty.token(), null, empty.headers()))).isEqualTo(Reason.WRONG_TAG);
        // a tombstone of an empty value, and the reverse
        byte[] asTombstone = new FieldWriter()
                .bytes(empty.headers().get(0).value())
                .bytes(empty.value())
                .done();
        assertThat(refusal(new Shown(empty.token(), null, List.of(new Header("jqe1", asTombstone)))))
                .isEqualTo(Reason.WRONG_TAG);
        byte[] header = tombstone.headers().get(0).value();
        Shown asValue = new Shown(
                tombstone.token(),
                Arrays.copyOfRange(header, Envelope.SIZE_BYTES, header.length),
                List.of(new Header("jqe1", Arrays.copyOf(header, Envelope.SIZE_BYTES))));
        assertThat(refusal(asValue)).isEqualTo(Reason.WRONG_TAG);
    }

    @Test
    void shouldRefuseARecordWhoseTokenWasExchanged() {
        BatchSealer sealer = world.sealer();
        Shown ada = shown(seal(sealer, "ada@example", "1"));
        Shown eve = shown(seal(sealer, "eve@example", "2"));

        assertThat(refusal(new Shown(eve.token(), ada.value(), ada.headers()))).isEqualTo(Reason.WRONG_TAG);
    }

    @Test
    void shouldSendNothingWithoutTheKeyThatTheRegistryCommitsTo() throws Exception {
        KeyVault without = KeyVault.inMemory();
        without.copy(world.senderVault, "sender/" + SENDER);
        BatchSealer sealer = world.policy(without).sender(SENDER).build().sealer(world.keys);
        assertThatThrownBy(() -> sealer.prepare(CUSTOMERS.topic()))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("the keyring has no key token/customers");
        without.addTokenKey(CUSTOMERS.topic(), TokenKey.random());
        assertThatThrownBy(() -> sealer.prepare(CUSTOMERS.topic()))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("has another key token/customers than the registry commits to");
        assertThatThrownBy(() -> seal(world.sealer(), null, "1"))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("a record without a key cannot be sent to topic customers");
    }

    @Test
    void shouldKeepTheKeyOfTokensOfATopicForever() {
        Registry registry = world.admin.registry();
        byte[] other = TokenKey.random().commitment(CUSTOMERS.topic());

        assertThat(registry.withTopic(CUSTOMERS.topic(), SealMode.TOKEN, List.of())
                        .topic(CUSTOMERS.topic())
                        .tokens())
                .isEqualTo(registry.topic(CUSTOMERS.topic()).tokens());
        assertThatThrownBy(() -> registry.withTokenTopic(CUSTOMERS.topic(), List.of(ROLE), other))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot change");
        assertThatThrownBy(() -> registry.withTopic("fresh", SealMode.TOKEN, List.of(ROLE)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a topic of mode token needs a key of tokens");
        assertThatThrownBy(() -> registry.withTokenTopic("orders", List.of(ROLE), other))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the mode of topic orders is batch");
    }

    @Test
    void shouldBeStoredInEachFormOfKeyring(@TempDir Path directory) throws Exception {
        char[] passphrase = "correct horse battery staple".toCharArray();
        for (String name : List.of("keyring", "keyring.p12")) {
            KeyVault vault = name.endsWith(".p12")
                    ? KeyVault.create(directory.resolve(name), passphrase)
                    : KeyVault.create(directory.resolve(name), passphrase, 1_000);
            vault.copy(world.senderVault, "token/customers");

            KeyVault opened = KeyVault.open(directory.resolve(name), passphrase);

            assertThat(opened.names()).containsExactly("token/customers");
            assertThat(opened.tokenKey("customers").secret())
                    .isEqualTo(world.senderVault.tokenKey("customers").secret());
            assertThat(opened.tokenKey("others")).isNull();
            assertThat(opened.tokenKey("customers")).hasToString("TokenKey");
        }
    }
}
