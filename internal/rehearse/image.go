package main

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// writeImage writes a container image for Linux as a tar file in OCI's layout: from scratch, with
// one file, /nocopy. binaries has that file for each processor.
func writeImage(file string, binaries map[string]string, version, commit string, created time.Time) error {
	labels := map[string]string{
		"org.opencontainers.image.title":    "nocopy",
		"org.opencontainers.image.version":  version,
		"org.opencontainers.image.revision": commit,
		"org.opencontainers.image.source":   "https://github.com/nocopythrift/nocopythrift",
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
	var all v1.ImageIndex = empty.Index
	for _, arch := range []string{"amd64", "arm64"} {
		layer, err := layerOf(binaries[arch], created)
		if err != nil {
			return err
		}
		image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
		if image, err = mutate.AppendLayers(image, layer); err != nil {
			return err
		}
		config, err := image.ConfigFile()
		if err != nil {
			return err
		}
		config = config.DeepCopy()
		config.OS, config.Architecture, config.Created = "linux", arch, v1.Time{Time: created}
		config.Config = v1.Config{Entrypoint: []string{"/nocopy"}, User: "65532:65532", Labels: labels}
		if image, err = mutate.ConfigFile(image, config); err != nil {
			return err
		}
		all = mutate.AppendManifests(all, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	dir, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	err = path.AppendIndex(all, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": version}))
	if err != nil {
		return err
	}
	_, err = output("tar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime="+created.Format(time.RFC3339), "-c", "-f", file, "-C", dir, ".")
	return err
}

// layerOf returns a layer with the one file /nocopy.
func layerOf(binary string, created time.Time) (v1.Layer, error) {
	text, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	header := tar.Header{Typeflag: tar.TypeReg, Name: "nocopy", Mode: 0o755, Size: int64(len(text)), ModTime: created}
	if err := w.WriteHeader(&header); err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
}

// unpackImage writes the files of the image for a processor into a folder, and returns the paths
// of the regular files and the command that the image starts.
func unpackImage(file, arch, dir string) (files, entry []string, err error) {
	temp, err := os.MkdirTemp("", "image")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(temp)
	if _, err := output("tar", "-x", "-C", temp, "-f", file); err != nil {
		return nil, nil, err
	}
	outer, err := layout.ImageIndexFromPath(temp)
	if err != nil {
		return nil, nil, err
	}
	manifest, err := outer.IndexManifest()
	if err != nil {
		return nil, nil, err
	}
	index, err := outer.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		return nil, nil, err
	}
	if manifest, err = index.IndexManifest(); err != nil {
		return nil, nil, err
	}
	for _, m := range manifest.Manifests {
		if m.Platform.Architecture != arch {
			continue
		}
		image, err := index.Image(m.Digest)
		if err != nil {
			return nil, nil, err
		}
		config, err := image.ConfigFile()
		if err != nil {
			return nil, nil, err
		}
		flat := mutate.Extract(image)
		defer flat.Close()
		for r := tar.NewReader(flat); ; {
			h, err := r.Next()
			if err == io.EOF {
				return files, config.Config.Entrypoint, nil
			}
			if err != nil {
				return nil, nil, err
			}
			files = append(files, "/"+h.Name)
			text, err := io.ReadAll(r)
			if err != nil {
				return nil, nil, err
			}
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), text, h.FileInfo().Mode().Perm()); err != nil {
				return nil, nil, err
			}
		}
	}
	return nil, nil, os.ErrNotExist
}
