package io.journalq.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.frame.Frames;
import io.journalq.common.protocol.message.ApiMessages;
import io.journalq.common.protocol.message.ApiVersionsRequest;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.journalq.server.api.Handler.ServedApi;
import io.journalq.server.broker.WireClient;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class ApiVersionsHandlerTest extends HandlerTestBase {
    private static final int API_VERSION_INDEX = Integer.BYTES + Short.BYTES;

    @ServedVersions(ApiKey.API_VERSIONS)
    void shouldListEveryHandlerWithItsVersions(int version) throws Exception {
        ApiVersionsResponse response = call(ApiVersionsResponse.class, request("journalq"), version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(response.apiKeys()).hasSameSizeAs(broker.handlers().all());
        for (ApiVersionsResponse.ApiVersion range : response.apiKeys()) {
            ServedApi api = broker.handlers().find(range.apiKey()).api();
            assertThat(range.maxVersion()).isEqualTo((short) api.highestVersion());
            if (api.key() == ApiKey.PRODUCE || api.key() == ApiKey.SASL_HANDSHAKE) {
                assertThat(range.minVersion()).as("for librdkafka").isZero();
            } else {
                assertThat(range.minVersion()).isEqualTo((short) api.lowestVersion());
            }
        }
        if (version >= 4) {
            assertThat(response.supportedFeatures())
                    .extracting(ApiVersionsResponse.SupportedFeatureKey::name)
                    .contains("group.version", "transaction.version");
        }
    }

    @Test
    void shouldRefuseANameOfSoftwareWhenItIsMalformed() throws Exception {
        ApiVersionsResponse response = call(ApiVersionsResponse.class, request("with space"), 3);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.INVALID_REQUEST);
    }

    @Test
    void shouldRespondInVersion0WhenTheVersionIsUnknown() throws Exception {
        byte[] frame = WireClient.frame(7, request("journalq"), 4);
        ByteBuffer.wrap(frame).putShort(API_VERSION_INDEX, (short) 99);
        client.out.write(frame);

        MessageReader reader = new MessageReader(Unpooled.wrappedBuffer(client.receiveFrame()));
        assertThat(Frames.readResponseHeader(reader, ApiKey.API_VERSIONS, (short) 0)
                        .correlationId())
                .isEqualTo(7);
        ApiVersionsResponse response =
                (ApiVersionsResponse) ApiMessages.readResponse(ApiKey.API_VERSIONS, reader, (short) 0);
        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.UNSUPPORTED_VERSION);
        assertThat(response.apiKeys()).singleElement().satisfies(range -> {
            assertThat(range.apiKey()).isEqualTo(ApiKey.API_VERSIONS.id());
            assertThat(range.maxVersion()).isEqualTo((short) 4);
        });
    }

    private static ApiVersionsRequest request(String software) {
        return new ApiVersionsRequest().setClientSoftwareName(software).setClientSoftwareVersion("1");
    }
}
