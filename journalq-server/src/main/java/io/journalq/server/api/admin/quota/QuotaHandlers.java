package io.journalq.server.api.admin.quota;

import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.control.Controller;
import io.journalq.server.metadata.MetadataImage;
import java.util.function.Supplier;

/** Registers the handlers of the APIs for client quotas. */
public final class QuotaHandlers {
    private QuotaHandlers() {}

    /** Registers the handlers. */
    public static void register(HandlerRegistry registry, Supplier<MetadataImage> images, Controller controller) {
        registry.register(new DescribeClientQuotasHandler(images));
        registry.register(new AlterClientQuotasHandler(controller));
    }
}
