package io.idempotency.it.redis;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import io.idempotency.it.store.EachVariant;
import org.junit.jupiter.api.ClassTemplate;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Runs the class on each {@link Redis} of some kinds. Its constructor takes a
 * {@link TestRedis}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ClassTemplate
@ExtendWith(EachRedis.Servers.class)
@interface EachRedis {

	/** Of which kinds. */
	Redis.Kind[] value() default Redis.Kind.CLIENT;

	/** Through which clients. */
	Redis.Client[] clients() default { Redis.Client.LETTUCE, Redis.Client.JEDIS };

	/** Starts them. */
	final class Servers extends EachVariant<TestRedis> {

		Servers() {
			super(TestRedis.class);
		}

		@Override
		protected Stream<Variant<TestRedis>> variants(Class<?> testClass) {
			EachRedis which = AnnotationSupport.findAnnotation(testClass, EachRedis.class).orElseThrow();
			return Arrays.stream(Redis.values())
				.filter((redis) -> List.of(which.value()).contains(redis.kind())
						&& List.of(which.clients()).contains(redis.client()))
				.map((redis) -> new Variant<>(redis.name(),
						List.of(Redis.Kind.CLIENT, Redis.Kind.CLUSTER).contains(redis.kind()), redis.backend(),
						() -> new TestRedis(redis)));
		}

	}

}
