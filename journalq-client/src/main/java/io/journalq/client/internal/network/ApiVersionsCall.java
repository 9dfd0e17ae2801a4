package io.journalq.client.internal.network;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ApiVersionsRequest;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.netty.buffer.ByteBuf;

/**
 * Asks a broker which API versions it supports. A broker that does not support the version of this request responds
 * with an error in version 0 (KIP-511).
 */
abstract class ApiVersionsCall extends Call {
    static final short OLDEST = 0;
    private static final String SOFTWARE_NAME = "journalq-java";
    private static final String SOFTWARE_VERSION = "0.1.0";

    ApiVersionsCall(int timeoutMs) {
        super(ApiKey.API_VERSIONS, timeoutMs);
    }

    abstract void onVersionTable(VersionTable table);

    abstract void onRefused();

    /** Whether a response in version 0 reports that the version of the request is not supported. */
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
    protected void onResponse(ApiMessage response, ByteBuf frame, short version) {
        if (response == null) {
            onRefused();
        } else {
            onVersionTable(new VersionTable((ApiVersionsResponse) response));
        }
    }
}
