package io.idempotency.interceptor;

import java.lang.reflect.Type;
import java.util.List;
import java.util.concurrent.Callable;

import kotlin.coroutines.Continuation;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.ResponseEntity;
import org.springframework.web.context.request.async.DeferredResult;

import static org.assertj.core.api.Assertions.assertThat;

class DeferredResultTypesTests {

	@Test
	void includesTypesOfFrameworksAndOfTheJdk() {
		Type entity = new ParameterizedTypeReference<ResponseEntity<Mono<String>>>() {
		}.getType();
		Type texts = new ParameterizedTypeReference<List<String>>() {
		}.getType();
		assertThat(List.of(Mono.class, DeferredResult.class, Runnable.class, Callable.class, entity, texts))
			.extracting(DeferredResultTypes::include)
			.containsExactly(true, true, false, true, true, false);
	}

	@Test
	void recognizesSuspendFunctionByItsLastParameter() throws ReflectiveOperationException {
		assertThat(DeferredResultTypes
			.isSuspend(Functions.class.getDeclaredMethod("suspend", String.class, Continuation.class))).isTrue();
		assertThat(DeferredResultTypes
			.isSuspend(Functions.class.getDeclaredMethod("begin", Continuation.class, String.class))).isFalse();
		assertThat(DeferredResultTypes.isSuspend(Object.class.getMethod("toString"))).isFalse();
	}

	@SuppressWarnings("unused")
	interface Functions {

		Object suspend(String text, Continuation<? super String> continuation);

		Object begin(Continuation<? super String> continuation, String text);

	}

}
