package io.journalq.client.network;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ApiVersionsRequest;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.netty.buffer.ByteBuf;

/** Asks a broker which versions it serves. A broker that does not know the version of the question says so (KIP-511). */
abstract class ApiVersionsCall extends Call {
    static final short OLDEST = 0;
    private static final String SOFTWARE_NAME = "journalq-java";
    private static final String SOFTWARE_VERSION = "0.1.0";

    ApiVersionsCall(int timeoutMs) {
        super(ApiKey.API_VERSIONS, timeoutMs);
    }

    abstract void onVersionTable(VersionTable table);

    abstract void onRefused();

    /** Whether the answer, in the oldest version's form, says that the version of the question is unknown. */
    static boolean isRefused(ByteBuf frame) {
        int errorIndex = frame.readerIndex() + Integer.BYTES;
        return frame.readableBytes() >= Integer.BYTES + Short.BYTES
                && frame.getShort(errorIndex) == ErrorCode.UNSUPPORTED_VERSION.code();
    }

    @Override
    protected ApiMessage request(short version) {
        return new ApiVersionsRequest().setClientSoftwareName(SOFTWARE_NAME).setClientSoftwareVersion(SOFTWARE_VERSION);
    }

    @Override
    protected void onAnswer(ApiMessage answer, ByteBuf frame, short version) {
        if (answer == null) {
            onRefused();
        } else {
            onVersionTable(new VersionTable((ApiVersionsResponse) answer));
        }
    }
}
