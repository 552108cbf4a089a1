package io.idempotency.observation;

import java.util.List;

import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.it.observed.Sample;
import io.idempotency.observation.ObservationConfiguration.OutcomeMeterRegistrar;
import io.micrometer.common.KeyValue;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What Prometheus reads of an operation before its first call, and after. */
class OutcomeMeterRegistrarTests {

	private final PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

	private final ObservationRegistry observations = ObservationRegistry.create();

	private final OutcomeMeterRegistrar outcomes;

	OutcomeMeterRegistrarTests() {
		this.observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(this.meters));
		this.outcomes = new OutcomeMeterRegistrar(this.meters, this.observations, null, List.of(),
				new EventCounter(this.meters));
		this.outcomes.begin(call());
	}

	private static IdempotencyObservationContext call() {
		return new IdempotencyObservationContext("pay", IdempotencyMode.REPLAY, "redis");
	}

	private void end(IdempotencyOutcome outcome) {
		IdempotencyObservationContext call = call();
		this.outcomes.begin(call);
		Observation observation = Observation
			.createNotStarted(new DefaultIdempotencyObservationConvention(), () -> call, this.observations)
			.start();
		call.outcome(outcome);
		observation.stop();
	}

	private List<Sample> counts(IdempotencyOutcome outcome) {
		return Sample.all(this.meters.scrape())
			.stream()
			.filter((sample) -> sample.name().equals("idempotency_seconds_count"))
			.filter((sample) -> sample.label("outcome").equals(outcome.value()))
			.toList();
	}

	@Test
	void atMostTwentySeriesBeginBeforeAnOutcome() {
		assertThat(Sample.all(this.meters.scrape())).filteredOn((sample) -> "pay".equals(sample.label("operation")))
			.hasSizeLessThanOrEqualTo(20);
	}

	@Test
	void seriesThatBeganAtZeroIsTheOneThatIsCountedUp() {
		assertThat(counts(IdempotencyOutcome.EXECUTED)).singleElement().extracting(Sample::value).isEqualTo(0.0);
		end(IdempotencyOutcome.EXECUTED);
		assertThat(counts(IdempotencyOutcome.EXECUTED)).singleElement().extracting(Sample::value).isEqualTo(1.0);
	}

	@Test
	void seriesGiveWayToTagsThatNobodyForesaw() {
		this.observations.observationConfig()
			.observationFilter((call) -> call.addLowCardinalityKeyValue(KeyValue.of("unforeseen", "yes")));
		end(IdempotencyOutcome.EXECUTED);
		end(IdempotencyOutcome.EXECUTED);
		// A registry that wants equal tags has rejected the first; a newer one takes
		// both.
		assertThat(counts(IdempotencyOutcome.EXECUTED)).filteredOn((sample) -> sample.label("unforeseen").equals("yes"))
			.singleElement()
			.satisfies((sample) -> assertThat(sample.value()).isBetween(1.0, 2.0));
	}

}
