package io.idempotency.autoconfigure.engine;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Chooses the codec for the results of methods, if the application has none of its own.
 * The first configuration that matches wins: Jackson 3 unless the application has only a
 * mapper of Jackson 2, then Jackson 2, then a codec that keeps only "done".
 */
@Configuration(proxyBeanMethods = false)
@Import({ Jackson3CodecConfiguration.class, Jackson2CodecConfiguration.class, VoidCodecConfiguration.class })
class ResultCodecConfigurations {

}
