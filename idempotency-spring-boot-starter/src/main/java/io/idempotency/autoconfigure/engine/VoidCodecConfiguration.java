package io.idempotency.autoconfigure.engine;

import io.idempotency.protocol.ResultCodec;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Declares the codec for an application without a JSON library: answers of controllers
 * can be kept, results of methods cannot.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(ResultCodec.class)
class VoidCodecConfiguration {

	@Bean
	VoidResultCodec idempotencyResultCodec() {
		return new VoidResultCodec();
	}

}
