package io.journalq.server.api.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import org.junit.jupiter.api.Test;

class DescribeClusterHandlerTest extends HandlerTestBase {
    private static final byte CONTROLLERS = 2;

    @ServedVersions(ApiKey.DESCRIBE_CLUSTER)
    void shouldNameTheClusterAndItsBroker(int version) throws Exception {
        DescribeClusterResponse response = call(DescribeClusterResponse.class, new DescribeClusterRequest(), version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(response.clusterId()).isNotEmpty();
        assertThat(response.controllerId()).isZero();
        assertThat(response.brokers()).singleElement().satisfies(only -> {
            assertThat(only.brokerId()).isZero();
            assertThat(only.host()).isEqualTo("127.0.0.1");
            assertThat(only.port()).isEqualTo(broker.port());
        });
    }

    @Test
    void shouldReportAnErrorWhenControllersAreRequested() throws Exception {
        DescribeClusterRequest request = new DescribeClusterRequest().setEndpointType(CONTROLLERS);

        assertThat(error(call(DescribeClusterResponse.class, request, 2).errorCode()))
                .isEqualTo(ErrorCode.MISMATCHED_ENDPOINT_TYPE);
    }

    @Test
    void shouldReportAnErrorWhenTheTypeOfTheEndpointIsUnknown() throws Exception {
        DescribeClusterRequest request = new DescribeClusterRequest().setEndpointType((byte) 3);

        assertThat(error(call(DescribeClusterResponse.class, request, 2).errorCode()))
                .isEqualTo(ErrorCode.UNSUPPORTED_ENDPOINT_TYPE);
    }
}
