package io.journalq.server.api.admin.quota;

import io.journalq.server.metadata.QuotaEntity;
import io.journalq.server.metadata.QuotaEntity.Part;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** The parts of a quota entity by their names on the wire. */
final class EntityTypes {
    static final String USER = "user";
    static final String CLIENT_ID = "client-id";
    static final String ADDRESS = "ip";

    private EntityTypes() {}

    /** Returns why a part is invalid; null if it is valid. */
    static String problem(String type, String name) {
        if (!type.equals(USER) && !type.equals(CLIENT_ID) && !type.equals(ADDRESS)) {
            return "quotas limit users, clients and addresses ('user', 'client-id', 'ip'), not '" + type + "'";
        }
        if (type.equals(ADDRESS) && name != null && address(name) == null) {
            return "'" + name + "' is not an IP address";
        }
        return name != null && name.isEmpty() ? "the name of a " + type + " is empty" : null;
    }

    /** The part of an entity with that type; null if the quota applies to all names. */
    static Part part(QuotaEntity entity, String type) {
        return switch (type) {
            case USER -> entity.user();
            case CLIENT_ID -> entity.clientId();
            default -> entity.address();
        };
    }

    /** An IP address in the form in which connections are counted; null if the text is none. Never asks for a name. */
    static String address(String text) {
        byte[] bytes = NetUtil.createByteArrayFromIpAddressString(text);
        try {
            return bytes == null ? null : InetAddress.getByAddress(bytes).getHostAddress();
        } catch (UnknownHostException impossible) {
            return null; // The bytes are those of an address.
        }
    }
}
