package io.idempotency.benchmarks.application;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler.IgnoredMeters;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

/**
 * What an application with Spring Boot's Actuator has, but for the metrics of requests,
 * which would be counted beside the guard's.
 */
@Configuration(proxyBeanMethods = false)
@Profile(LoadApplication.OBSERVED)
class MetricsConfiguration {

	@Bean
	MeterRegistry meters() {
		return new SimpleMeterRegistry();
	}

	@Bean
	ObservationRegistry observations(MeterRegistry meters, @Value("${load.ignored-meters:}") IgnoredMeters[] ignored) {
		ObservationRegistry observations = ObservationRegistry.create();
		observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters, ignored));
		return observations;
	}

}
