package io.journalq.server.api.admin;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Controller.ConfigChange;
import io.journalq.server.control.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * What both APIs that change settings have in common: topics' changes go to the controller together, whatever else is
 * named gets its error at once, and every resource gets its outcome in the order asked.
 */
final class ConfigAlteration {
    private ConfigAlteration() {}

    /**
     * Changes settings.
     *
     * @param resources as asked
     * @param plan for each, what to do
     */
    static <R> CompletableFuture<List<Outcome>> alter(
            Controller controller, List<R> resources, boolean validateOnly, Function<R, Plan> plan) {
        List<Outcome> outcomes = new ArrayList<>();
        List<ConfigChange> changes = new ArrayList<>();
        List<Integer> places = new ArrayList<>();
        for (R resource : resources) {
            Plan planned = plan.apply(resource);
            outcomes.add(planned.refusal());
            if (planned.change() != null) {
                places.add(outcomes.size() - 1);
                changes.add(planned.change());
            }
        }
        return controller.alterTopicConfigs(changes, validateOnly).handle((done, failure) -> {
            for (int i = 0; i < places.size(); i++) {
                outcomes.set(places.get(i), failure == null ? done.get(i) : Outcome.NOT_TAKEN);
            }
            return outcomes;
        });
    }

    /**
     * One resource's part: a change, or why there is none.
     */
    record Plan(ConfigChange change, Outcome refusal) {
        static Plan change(ConfigChange change) {
            return new Plan(change, null);
        }

        static Plan refuse(ErrorCode error, String reason) {
            return new Plan(null, new Outcome(error, reason, null));
        }

        /** Settings that are not a topic's cannot be changed while the broker runs. */
        static Plan refuse(byte resourceType) {
            return resourceType == ConfigResource.BROKER
                    ? refuse(
                            ErrorCode.INVALID_REQUEST,
                            "a broker's settings change in its configuration file and with a restart")
                    : refuse(ErrorCode.INVALID_REQUEST, ConfigResource.unsupported(resourceType));
        }
    }
}
