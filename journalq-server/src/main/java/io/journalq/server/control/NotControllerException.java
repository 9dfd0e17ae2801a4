package io.journalq.server.control;

import io.journalq.server.control.MetadataLog.Members;
import java.io.IOException;

/** The broker does not lead the metadata quorum, or no longer. A client repeats its request at the controller. */
public final class NotControllerException extends IOException {
    private static final long serialVersionUID = 1L;

    /** The controller of another broker did not do the operation, or it is not known whether it did. */
    public NotControllerException(String message) {
        super(message);
    }

    NotControllerException(Members members) {
        super("this broker is not the controller of the cluster; "
                + (members.leaderId() == Members.NO_LEADER
                        ? "none is known at the moment"
                        : "broker " + members.leaderId() + " is"));
    }

    NotControllerException(Throwable failure) {
        super("the change may or may not be committed, because the controller has changed", failure);
    }
}
