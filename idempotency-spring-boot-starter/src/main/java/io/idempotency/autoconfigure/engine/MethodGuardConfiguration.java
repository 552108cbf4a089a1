package io.idempotency.autoconfigure.engine;

import io.idempotency.aop.MethodDoor;
import io.idempotency.aop.OperationKeyReader;
import io.idempotency.aop.proxy.UnguardedContextCheck;
import io.idempotency.autoconfigure.IdempotencyGuardConfiguration;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.protocol.ResultCodec;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Declares the guard around annotated beans, and the door for the calls of methods. */
@Configuration(proxyBeanMethods = false)
@Import(IdempotencyGuardConfiguration.class)
class MethodGuardConfiguration {

	@Bean
	OperationKeyReader idempotencyOperationKeys(IdempotencyProperties properties) {
		return new OperationKeyReader(properties.key().maxLength());
	}

	@Bean
	MethodDoor idempotencyMethodDoor(IdempotencyEngine engine, ResultCodec codec, OperationKeyReader keys,
			ObjectProvider<CurrentRequest> request) {
		CurrentRequest current = request.getIfAvailable(() -> CurrentRequest.NONE);
		return new MethodDoor(engine, codec, keys, current::values, current::caller);
	}

	@Bean
	UnguardedContextCheck idempotencyUnguardedContexts() {
		return new UnguardedContextCheck("Add @Import(" + IdempotencyGuardConfiguration.class.getName()
				+ ".class) to a configuration of that context");
	}

}
