package io.idempotency.autoconfigure.actuate;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.autoconfigure.RecordingStore;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.autoconfigure.IdempotencyDisabledAutoConfiguration;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/** When the endpoint is there, and when it may remove records. */
class IdempotencyEndpointAutoConfigurationTests {

	private static final String EXPOSED = "management.endpoints.web.exposure.include=idempotency";

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class,
				IdempotencyEndpointAutoConfiguration.class, IdempotencyDisabledAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory");

	@Test
	void endpointIsNotExposedByDefault() {
		this.runner.run((context) -> assertThat(context).hasSingleBean(IdempotencyAdmin.class)
			.doesNotHaveBean(IdempotencyEndpoint.class));
	}

	@Test
	void exposedEndpointRemovesNothingByDefault() {
		this.runner.withPropertyValues(EXPOSED)
			.run((context) -> assertThat(context).hasSingleBean(IdempotencyEndpoint.class)
				.doesNotHaveBean(WritableIdempotencyEndpoint.class));
		this.runner.withPropertyValues(EXPOSED, "idempotency.admin.write-operations=false")
			.run((context) -> assertThat(context).doesNotHaveBean(WritableIdempotencyEndpoint.class));
	}

	@Test
	void endpointRemovesRecordsIfThatIsSwitchedOn() {
		this.runner.withPropertyValues(EXPOSED, "idempotency.admin.write-operations=true")
			.run((context) -> assertThat(context).hasSingleBean(IdempotencyEndpoint.class)
				.hasSingleBean(WritableIdempotencyEndpoint.class));
	}

	@Test
	void accessOfBootAppliesAsWell() {
		this.runner.withPropertyValues(EXPOSED, "management.endpoint.idempotency.access=NONE")
			.run((context) -> assertThat(context).doesNotHaveBean(IdempotencyEndpoint.class));
	}

	@Test
	void whenNothingIsGuardedThenThereIsNoEndpoint() {
		this.runner.withPropertyValues(EXPOSED, "idempotency.enabled=false").run((context) -> {
			assertThat(context).doesNotHaveBean(IdempotencyEndpoint.class);
			IdempotencyAdmin admin = context.getBean(IdempotencyAdmin.class);
			assertThat(admin.store("other").list("pay", null, 10).records()).isEmpty();
			assertThat(admin.find("pay", IdempotencyCaller.none(), "1")).isEmpty();
			assertThat(admin.findById("pay", "0".repeat(64))).isEmpty();
			assertThat(admin.evict("pay", "0".repeat(64), true).evicted()).isZero();
			assertThat(admin.erase(IdempotencyCaller.principal("alice"), true).evicted()).isZero();
		});
	}

	@Test
	void withoutActuatorThereIsNoEndpoint() {
		for (Class<?> missing : new Class<?>[] { Endpoint.class, ConditionalOnAvailableEndpoint.class }) {
			this.runner.withPropertyValues(EXPOSED)
				.withClassLoader(new FilteredClassLoader(missing))
				.run((context) -> assertThat(context).hasNotFailed()
					.hasSingleBean(IdempotencyAdmin.class)
					.doesNotHaveBean("idempotencyEndpoint"));
		}
	}

	@Test
	void adminOfAnotherStoreIsFoundByItsName() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
			.withBean("idempotencyStore", RecordingStore.class)
			.withBean("other", RecordingStore.class)
			.run((context) -> {
				IdempotencyAdmin admin = context.getBean(IdempotencyAdmin.class);
				assertThat(admin.store("other")).isNotSameAs(admin);
				assertThat(catchThrowable(() -> admin.store("none"))).isInstanceOf(IllegalArgumentException.class)
					.hasMessageContaining("'none'");
			});
	}

}
