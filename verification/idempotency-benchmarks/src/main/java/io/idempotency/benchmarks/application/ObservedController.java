package io.idempotency.benchmarks.application;

import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** One observation of Micrometer with as many tags as a guarded call's, and no guard. */
@RestController
@Profile(LoadApplication.OBSERVED)
class ObservedController {

	private static final KeyValues TAGS = KeyValues.of("operation", "pay", "mode", "replay", "store", "memory",
			"outcome", "executed");

	private final ObservationRegistry observations;

	ObservedController(ObservationRegistry observations) {
		this.observations = observations;
	}

	@PostMapping("/observed")
	@ResponseStatus(HttpStatus.CREATED)
	Payment observed(@RequestBody Payment payment) {
		return Observation.createNotStarted("unguarded", this.observations)
			.lowCardinalityKeyValues(TAGS)
			.observe(() -> payment);
	}

}
