package io.journalq.server.api.admin.quota;

import io.journalq.server.metadata.QuotaEntity;
import io.journalq.server.metadata.QuotaEntity.Part;

/** The parts of a quota entity by their names on the wire. */
final class EntityTypes {
    static final String USER = "user";
    static final String CLIENT_ID = "client-id";

    private EntityTypes() {}

    /** Returns why a part is invalid; null if it is valid. */
    static String problem(String type, String name) {
        if (!type.equals(USER) && !type.equals(CLIENT_ID)) {
            return "quotas limit users and clients ('user', 'client-id'), not '" + type + "'"
                    + (type.equals("ip") ? "; max.connections.per.ip limits addresses" : "");
        }
        return name != null && name.isEmpty() ? "the name of a " + type + " is empty" : null;
    }

    /** The part of an entity with that type; null if the quota applies to all names. */
    static Part part(QuotaEntity entity, String type) {
        return type.equals(USER) ? entity.user() : entity.clientId();
    }
}
