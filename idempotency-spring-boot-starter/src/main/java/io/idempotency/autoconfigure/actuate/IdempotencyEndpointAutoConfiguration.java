package io.idempotency.autoconfigure.actuate;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.OperationCoverage;
import io.idempotency.interceptor.IdempotentOperation.OperationCatalog;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;

import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the actuator endpoint
 * {@code idempotency}. The endpoint is there if it is exposed, and it is not exposed by
 * default. It removes records only if {@code idempotency.admin.write-operations} is true.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnClass({ Endpoint.class, ConditionalOnAvailableEndpoint.class })
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnAvailableEndpoint(IdempotencyEndpoint.class)
@RegisterReflectionForBinding({ IdempotencyEndpoint.RecordsDescriptor.class, IdempotencyEndpoint.RecordDescriptor.class,
		IdempotencyEndpoint.OperationsDescriptor.class, IdempotencyEndpoint.Rejection.class,
		WritableIdempotencyEndpoint.EvictionDescriptor.class })
public final class IdempotencyEndpointAutoConfiguration {

	IdempotencyEndpointAutoConfiguration() {
	}

	@Bean
	@ConditionalOnProperty("idempotency.admin.write-operations")
	@ConditionalOnMissingBean(IdempotencyEndpoint.class)
	WritableIdempotencyEndpoint writableIdempotencyEndpoint(IdempotencyAdmin admin,
			ObjectProvider<OperationCatalog> catalogs, ObjectProvider<OperationCoverage> coverage) {
		return new WritableIdempotencyEndpoint(admin, catalogs, coverage);
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotencyEndpoint idempotencyEndpoint(IdempotencyAdmin admin, ObjectProvider<OperationCatalog> catalogs,
			ObjectProvider<OperationCoverage> coverage) {
		return new IdempotencyEndpoint(admin, catalogs, coverage);
	}

}
